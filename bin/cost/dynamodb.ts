import type { Load } from './load.ts';
import type { ByReporting, Measured } from './measured.ts';

/** What a month's load uses of DynamoDB. */
export interface TableUse {
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Bytes billed for storage once the retention has passed. */
  readonly storedBytes: number;
  /** The share of these bytes in the table, without its indexes. */
  readonly tableBytes: number;
}

const bytesOfWriteUnit = 1024;
const bytesOfReadUnit = 8192;
/** Bytes that DynamoDB adds to each item when it bills storage. */
const rowOverhead = 100;
/** Calls of one trace of the generator. */
const callsPerTrace = 3;
/** Calls below a root whose usage is asked for, as the bench has them. */
const callsOfUsage = 20;
/** Calls in the answer of a query for the newest. */
export const newestCalls = 100;

/** The weighted mean of a figure over the calls of a load. */
const blended = (figures: ByReporting, { apart, inThreads }: Pick<Load, 'apart' | 'inThreads'>): number =>
  (1 - apart) * ((1 - inThreads) * figures.together + inThreads * figures.togetherInThreads) +
  apart * ((1 - inThreads) * figures.apart + inThreads * figures.apartInThreads);

/**
 * The compressed size of payloads as a share of their JSON, by calls per request. Between two
 * measured sizes it is interpolated over the logarithm of the size.
 */
export const compressedShare = (compressed: Measured['compressed'], batch: number): number => {
  const above = compressed.findIndex(([size]) => size >= batch);
  const [upper, share] = compressed.at(above) ?? [1, 1];
  const [lower, lowerShare] = compressed[above - 1] ?? [upper, share];
  if (above < 1 || upper === lower) return share;
  const weight = Math.log(batch / lower) / Math.log(upper / lower);
  return lowerShare + weight * (share - lowerShare);
};

/** Requests that report. */
export const reportsOf = ({ calls, batch, apart }: Pick<Load, 'calls' | 'batch' | 'apart'>): number =>
  (calls / batch) * (1 + apart);

const monthHours = 730;
const monthDays = monthHours / 24;

/**
 * What statistics take: their rollups and the headers of open hours each time, and the headers of
 * all hours once, to be rolled up. A day's rollups are stored anew after each of its hours, if
 * somebody asks as often. Late reports mark hours.
 */
const statisticsUse = (
  load: Load,
  measured: Measured,
): { readonly reads: number; readonly writes: number } => {
  const { calls, statistics, openHours, pageUnits } = load;
  const marks = reportsOf(load) * load.late;
  if (statistics === 0) return { reads: 0, writes: marks };
  const hourUnits = calls / monthHours / measured.scannedPerUnit;
  const rolledUp = Math.max(monthDays, Math.min(statistics, monthHours));
  return {
    reads: statistics * (measured.rollups + openHours * hourUnits) + calls / measured.scannedPerUnit,
    writes: marks + rolledUp * pageUnits,
  };
};

/** Bytes of compressed payload of a request whose calls have start and end together. */
const segmentBytes = ({ bytes, batch }: Load, { compressed }: Measured): number =>
  bytes * batch * compressedShare(compressed, batch);

/**
 * Write units of a call's share of the payload. They are rounded up per request, twice if starts
 * and ends are reported apart.
 */
const segmentUnits = (load: Load, measured: Measured): number => {
  const bytes = segmentBytes(load, measured);
  const together = Math.ceil(bytes / bytesOfWriteUnit);
  const apart = Math.ceil((bytes * measured.apartPayload) / bytesOfWriteUnit) + 1;
  return ((1 - load.apart) * together + load.apart * apart) / load.batch;
};

/** What a load uses in the service's layout. */
export const serviceUse = (load: Load, measured: Measured): TableUse => {
  const { calls, batch, apart, months } = load;
  const payload =
    (segmentBytes(load, measured) * (1 + apart * (measured.apartPayload - 1)) + (1 + apart) * rowOverhead) /
    batch;
  const storedCalls = calls * months;
  const derived = statisticsUse(load, measured);
  return {
    writeUnits: calls * (blended(measured.headerUnits, load) + segmentUnits(load, measured)) + derived.writes,
    readUnits:
      calls * blended(measured.reportReads, load) +
      load.queries * measured.newest +
      load.traces * measured.trace +
      load.lists * measured.list +
      load.usages * measured.usage +
      derived.reads +
      (load.scans * load.scanned) / measured.scannedPerUnit,
    storedBytes: storedCalls * (blended(measured.headerBytes, load) + payload),
    tableBytes: storedCalls * (blended(measured.itemBytes, load) + payload),
  };
};

/** The item and its copies on four indexes. */
const usualRows = 5;

/**
 * What a load uses in the usual layout: an item with all of the JSON, on four indexes that project
 * all of it.
 */
export const usualUse = (load: Load, { usual }: Measured): TableUse => {
  const { calls, bytes, apart, months } = load;
  const scale = bytes / usual.bytes;
  const reading = (count: number) => Math.ceil((count * bytes) / bytesOfReadUnit);
  const storedBytes = calls * months * Math.max(usual.billed * scale, usualRows * rowOverhead);
  // A row takes at least one unit, however small the call.
  const units = (measured: number, writes: number) => Math.max(measured * scale, writes * usualRows);
  return {
    writeUnits: calls * ((1 - apart) * units(usual.together, 1) + apart * units(usual.apart, 2)),
    readUnits:
      load.queries * reading(newestCalls) +
      load.traces * reading(callsPerTrace) +
      load.lists * reading(newestCalls) +
      load.usages * newestCalls * reading(callsOfUsage) +
      load.scans * reading(load.scanned),
    storedBytes,
    tableBytes: storedBytes / 5,
  };
};
