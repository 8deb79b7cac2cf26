import type { Load } from './load.ts';
import type { ByWay, Measured } from './measured.ts';

/** What a month's load takes of DynamoDB. */
export interface TableUse {
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Bytes that are billed, once as many months have passed as calls are kept for. */
  readonly storedBytes: number;
  /** Of these, those of the table without its indexes. */
  readonly tableBytes: number;
}

const bytesOfWriteUnit = 1024;
const bytesOfReadUnit = 8192;
/** What DynamoDB adds to an item when it charges for storage. */
const rowOverhead = 100;
/** Calls in a trace of the generator's. */
const callsATrace = 3;
/** Calls that a query for the newest answers. */
export const newestCalls = 100;

/** A figure for the mix of calls of a load. */
const blended = (figures: ByWay, { apart, inThreads }: Pick<Load, 'apart' | 'inThreads'>): number =>
  (1 - apart) * ((1 - inThreads) * figures.together + inThreads * figures.togetherInThreads) +
  apart * ((1 - inThreads) * figures.apart + inThreads * figures.apartInThreads);

/**
 * What payloads compress to, as a share of their JSON, for so many calls in a request: between two
 * measured sizes along the logarithm of the size.
 */
export const compressedShare = (compressed: Measured['compressed'], batch: number): number => {
  const above = compressed.findIndex(([size]) => size >= batch);
  const [upper, share] = compressed.at(above) ?? [1, 1];
  const [lower, lowerShare] = compressed[above - 1] ?? [upper, share];
  if (above < 1 || upper === lower) return share;
  const place = Math.log(batch / lower) / Math.log(upper / lower);
  return lowerShare + place * (share - lowerShare);
};

/** Bytes of compressed payload of one request's calls, whose starts and ends come together. */
const segmentBytes = ({ bytes, batch }: Load, { compressed }: Measured): number =>
  bytes * batch * compressedShare(compressed, batch);

/**
 * Write units of a call's share of the payload, which is rounded up once a request: twice where
 * starts and ends come apart.
 */
const segmentUnits = (load: Load, measured: Measured): number => {
  const bytes = segmentBytes(load, measured);
  const together = Math.ceil(bytes / bytesOfWriteUnit);
  const apart = Math.ceil((bytes * measured.apartPayload) / bytesOfWriteUnit) + 1;
  return ((1 - load.apart) * together + load.apart * apart) / load.batch;
};

/** What a load takes in the service's layout. */
export const serviceUse = (load: Load, measured: Measured): TableUse => {
  const { calls, batch, apart, months } = load;
  const payload =
    (segmentBytes(load, measured) * (1 + apart * (measured.apartPayload - 1)) + (1 + apart) * rowOverhead) /
    batch;
  const kept = calls * months;
  return {
    writeUnits: calls * (blended(measured.headerUnits, load) + segmentUnits(load, measured)),
    readUnits:
      calls * blended(measured.reportReads, load) +
      load.queries * measured.newest +
      load.traces * measured.trace +
      (load.scans * load.scanned) / measured.scannedAUnit,
    storedBytes: kept * (blended(measured.headerBytes, load) + payload),
    tableBytes: kept * (blended(measured.itemBytes, load) + payload),
  };
};

/** The item and its copies on four indexes. */
const usualRows = 5;

/**
 * What a load takes in the usual layout: an item with all of the JSON, on four indexes that hold
 * all of it as well.
 */
export const usualUse = (load: Load, { usual }: Measured): TableUse => {
  const { calls, bytes, apart, months } = load;
  const scale = bytes / usual.bytes;
  const reading = (count: number) => Math.ceil((count * bytes) / bytesOfReadUnit);
  const storedBytes = calls * months * Math.max(usual.billed * scale, usualRows * rowOverhead);
  // However small a call is, a row is a unit at least.
  const units = (measured: number, writes: number) => Math.max(measured * scale, writes * usualRows);
  return {
    writeUnits: calls * ((1 - apart) * units(usual.together, 1) + apart * units(usual.apart, 2)),
    readUnits:
      load.queries * reading(newestCalls) +
      load.traces * reading(callsATrace) +
      load.scans * reading(load.scanned),
    storedBytes,
    tableBytes: storedBytes / 5,
  };
};
