import { compareBy, type Sortable, type SortKey } from '../expression/index.ts';
import type { ServiceError } from '../wire/index.ts';
import { mapBatches, type Slice } from './batches.ts';

/** How items are sorted, and how many may be held for it. */
interface Sorting<T> {
  readonly compare: (a: T, b: T) => number;
  /** What an item counts towards `maxSize`: its bytes in memory, about. */
  readonly getSize: (item: T) => number;
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
  { compare, getSize, maxSize = maxBytes, tooMany }: Sorting<T>,
  { offset, limit }: Slice,
  batches: AsyncIterable<readonly T[]>,
): Promise<T[]> => {
  const end = limit === null ? Number.POSITIVE_INFINITY : offset + limit;
  let held: T[] = [];
  let size = 0;
  const prune = (): void => {
    held = held.sort(compare).slice(0, end);
    size = held.reduce((sum, item) => sum + getSize(item), 0);
  };
  for await (const batch of batches) {
    for (const item of batch) {
      held.push(item);
      size += getSize(item);
    }
    if (held.length > 2 * end || size > maxSize) prune();
    if (size > maxSize) throw tooMany;
  }
  prune();
  return held.slice(offset);
};

/** What is held of an item, and the values that it is sorted by. */
export interface Keyed<K> {
  /** One value for each key of the order. */
  readonly key: readonly Sortable[];
  readonly kept: K;
}

/** How items are sorted by the keys of an order. */
interface KeySorting<T, K> extends Pick<Sorting<Keyed<K>>, 'getSize' | 'maxSize' | 'tooMany'> {
  readonly sort: readonly Pick<SortKey, 'descending'>[];
  /** The values that an item is sorted by, one for each key. */
  readonly toKey: (item: T) => readonly Sortable[];
  /** What is held of an item. */
  readonly keep: (item: T) => K;
  /** The order of items whose keys are equal. */
  readonly ties: (a: K, b: K) => number;
}

/** Bytes in memory that the texts of a key take, about. */
export const keyBytes = (key: readonly Sortable[]): number =>
  key.reduce((sum, value) => sum + (typeof value?.[1] === 'string' ? 2 * value[1].length : 0), 0);

/** Makes the comparison of an order: by its keys, then by `ties`. */
const compareKeyed = <K>({
  sort,
  ties,
}: Pick<KeySorting<never, K>, 'sort' | 'ties'>): ((a: Keyed<K>, b: Keyed<K>) => number) => {
  const byKey = compareBy(sort);
  return (a, b) => byKey(a.key, b.key) || ties(a.kept, b.kept);
};

/** Sorts a list by the keys of an order. */
export const sortByKeys = <T>(
  list: readonly T[],
  sorting: Pick<KeySorting<T, T>, 'sort' | 'toKey' | 'ties'>,
): T[] =>
  list
    .map((item) => ({ key: sorting.toKey(item), kept: item }))
    .sort(compareKeyed(sorting))
    .map(({ kept }) => kept);

/**
 * Sorts items by the keys of an order and takes a slice of them.
 *
 * @throws ServiceError the sorting's `tooMany`
 */
export const sortedByKeys = async <T, K>(
  sorting: KeySorting<T, K>,
  slice: Slice,
  batches: AsyncIterable<readonly T[]>,
): Promise<K[]> => {
  const { toKey, keep, getSize, maxSize, tooMany } = sorting;
  const keyed = mapBatches(batches, (batch) => batch.map((item) => ({ key: toKey(item), kept: keep(item) })));
  const limits = { getSize, tooMany, ...(maxSize !== undefined && { maxSize }) };
  const held = await sortedSlice({ compare: compareKeyed(sorting), ...limits }, slice, keyed);
  return held.map(({ kept }) => kept);
};

/**
 * Sorts runs of neighbours that tie, in what comes in order otherwise. A run is held whole.
 *
 * @param isTied whether two items are of one run
 */
export async function* sortTies<T>(
  isTied: (a: T, b: T) => boolean,
  compare: (a: T, b: T) => number,
  batches: AsyncIterable<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  let run: T[] = [];
  for await (const batch of batches) {
    const ordered: T[] = [];
    for (const item of batch) {
      if (run[0] !== undefined && !isTied(run[0], item)) {
        // Not spread into push: a run can be longer than the arguments of a call.
        for (const tie of run.sort(compare)) ordered.push(tie);
        run = [];
      }
      run.push(item);
    }
    if (ordered.length > 0) yield ordered;
  }
  if (run.length > 0) yield run.sort(compare);
}
