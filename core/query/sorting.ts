import type { ServiceError } from '../wire/index.ts';

/** Which part of what is sorted is wanted: so many from `offset` on; null for all. */
export interface Cut {
  readonly offset: number;
  readonly limit: number | null;
}

/** How items are sorted that come one after the other. */
export interface Sorting<T> {
  readonly compare: (a: T, b: T) => number;
  /** What holding an item takes of memory, about, in bytes. */
  readonly sizeOf: (item: T) => number;
  /** What is thrown when they are more than fit into memory. */
  readonly tooMany: ServiceError;
}

/** What kept items may take in all: a function has 1 GB. */
const maxBytes = 400 * 1024 * 1024;

/**
 * Sorts items and gives those from `offset` up to `limit` more, holding no more of them at a time
 * than about twice as many as are wanted.
 *
 * @throws ServiceError the sorting's `tooMany`
 */
export const sortedPart = async <T>(
  { compare, sizeOf, tooMany }: Sorting<T>,
  { offset, limit }: Cut,
  batches: AsyncIterable<readonly T[]>,
): Promise<T[]> => {
  const wanted = limit === null ? Number.POSITIVE_INFINITY : offset + limit;
  let kept: T[] = [];
  let bytes = 0;
  const prune = (): void => {
    kept = kept.sort(compare).slice(0, wanted);
    bytes = kept.reduce((sum, item) => sum + sizeOf(item), 0);
  };
  for await (const batch of batches) {
    for (const item of batch) {
      kept.push(item);
      bytes += sizeOf(item);
    }
    if (kept.length > 2 * wanted || bytes > maxBytes) prune();
    if (bytes > maxBytes) throw tooMany;
  }
  prune();
  return kept.slice(offset);
};

/**
 * Puts in order what comes in order but for runs of neighbours that tie.
 *
 * @param isTied whether two items are of one run; holds each run whole
 */
export async function* orderRuns<T>(
  isTied: (a: T, b: T) => boolean,
  compare: (a: T, b: T) => number,
  batches: AsyncIterable<readonly T[]>,
): AsyncGenerator<T[]> {
  let tied: T[] = [];
  for await (const batch of batches) {
    const settled: T[] = [];
    for (const item of batch) {
      if (tied[0] !== undefined && !isTied(tied[0], item)) {
        // Not spread into push: there can be more of them than a call may have arguments.
        for (const tie of tied.sort(compare)) settled.push(tie);
        tied = [];
      }
      tied.push(item);
    }
    if (settled.length > 0) yield settled;
  }
  if (tied.length > 0) yield tied.sort(compare);
}
