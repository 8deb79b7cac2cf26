/**
 * What decides the storage costs of calls: their sizes, how they are grouped, and how much they
 * repeat.
 */
import { type Call, jsonBytes } from './calls.ts';
import { quantile } from './figures.ts';
import { compress, payloadOf } from './payloads.ts';

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0) / numbers.length;

const countsBy = (calls: readonly Call[], field: string): number[] =>
  [...Map.groupBy(calls, ({ start }) => start[field]).values()].map((group) => group.length);

/** Compressed payload bytes per call, in batches as segments are. */
export const compressedBytes = (calls: readonly Call[], perBatch: number, level = 3): number => {
  let bytes = 0;
  for (let i = 0; i < calls.length; i += perBatch) {
    const payloads = calls.slice(i, i + perBatch).map(payloadOf);
    bytes += compress(Buffer.from(payloads.join('')), level).length;
  }
  return bytes / calls.length;
};

const windowLength = 32;

/**
 * The share of the payloads' characters in runs of at least 32 that occurred in an earlier call, 0
 * to 1.
 */
const repeatedShare = (calls: readonly Call[]): number => {
  const seen = new Set<string>();
  let [repeated, all] = [0, 0];
  for (const call of calls) {
    const text = payloadOf(call);
    all += text.length;
    for (let i = 0; i + windowLength <= text.length; ) {
      const isKnown = seen.has(text.slice(i, i + windowLength));
      if (isKnown) repeated += windowLength;
      i += isKnown ? windowLength : 1;
    }
    // Stored windows are adjacent and looked-up windows start anywhere, so a repeated run meets
    // one.
    for (let i = 0; i < text.length; i += windowLength) seen.add(text.slice(i, i + windowLength));
  }
  return repeated / all;
};

/** The profile of calls by printed name. Sizes are bytes. */
export const profileOf = (calls: readonly Call[]): Readonly<Record<string, number>> => {
  const sizes = calls.map((call) => jsonBytes([call]));
  const threads = countsBy(calls, 'thread_id');
  return {
    'bytes a call, mean': mean(sizes),
    'bytes a call, p50': quantile(sizes, 0.5),
    'bytes a call, p90': quantile(sizes, 0.9),
    'calls a thread, mean': mean(threads),
    'calls a thread, p50': quantile(threads, 0.5),
    'calls a thread, p90': quantile(threads, 0.9),
    'calls a trace, mean': mean(countsBy(calls, 'trace_id')),
    'compressed alone, bytes a call': compressedBytes(calls, 1),
    'compressed in 25s, bytes a call': compressedBytes(calls, 25),
    'compressed in 100s, bytes a call': compressedBytes(calls, 100),
    'repeated, % of the payload': 100 * repeatedShare(calls),
  };
};
