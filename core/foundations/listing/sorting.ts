import type { ServiceError } from '../wire/index.ts';
import type { Slice } from './slice.ts';

/** How items are sorted, and how many may be held for it. */
export interface Sorting<T> {
  readonly compare: (a: T, b: T) => number;
  /** What an item counts towards `maxSize`: its bytes in memory, about. */
  readonly sizeOf: (item: T) => number;
  /** The most that held items may count together. */
  readonly maxSize?: number;
  /** Thrown when more would have to be held. */
  readonly tooMany: ServiceError;
}

/** A function has 1 GB of memory. */
const maxBytes = 400 * 1024 * 1024;

/**
 * Sorts items and takes a slice of them. At most about twice as many items are held as the slice
 * ends at.
 *
 * @throws ServiceError the sorting's `tooMany`
 */
export const sortedSlice = async <T>(
  { compare, sizeOf, maxSize = maxBytes, tooMany }: Sorting<T>,
  { offset, limit }: Slice,
  batches: AsyncIterable<readonly T[]>,
): Promise<T[]> => {
  const end = limit === null ? Number.POSITIVE_INFINITY : offset + limit;
  let held: T[] = [];
  let size = 0;
  const prune = (): void => {
    held = held.sort(compare).slice(0, end);
    size = held.reduce((sum, item) => sum + sizeOf(item), 0);
  };
  for await (const batch of batches) {
    for (const item of batch) {
      held.push(item);
      size += sizeOf(item);
    }
    if (held.length > 2 * end || size > maxSize) prune();
    if (size > maxSize) throw tooMany;
  }
  prune();
  return held.slice(offset);
};
