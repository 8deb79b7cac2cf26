import { compareBy, type Sortable, type SortKey } from '../expression/index.ts';
import { mapBatches } from './batches.ts';
import type { Slice } from './slice.ts';
import { type Sorting, sortedSlice } from './sorting.ts';

/** What is held of an item, and the values that it is sorted by. */
export interface Keyed<K> {
  /** One value for each key of the order. */
  readonly key: readonly Sortable[];
  readonly kept: K;
}

/** How items are sorted by the keys of an order. */
export interface KeySorting<T, K> extends Pick<Sorting<Keyed<K>>, 'sizeOf' | 'maxSize' | 'tooMany'> {
  readonly sort: readonly Pick<SortKey, 'descending'>[];
  /** The values that an item is sorted by, one for each key. */
  readonly keyOf: (item: T) => readonly Sortable[];
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
  sorting: Pick<KeySorting<T, T>, 'sort' | 'keyOf' | 'ties'>,
): T[] =>
  list
    .map((item) => ({ key: sorting.keyOf(item), kept: item }))
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
  const { keyOf, keep, sizeOf, maxSize, tooMany } = sorting;
  const keyed = mapBatches(batches, (batch) => batch.map((item) => ({ key: keyOf(item), kept: keep(item) })));
  const limits = { sizeOf, tooMany, ...(maxSize !== undefined && { maxSize }) };
  const held = await sortedSlice({ compare: compareKeyed(sorting), ...limits }, slice, keyed);
  return held.map(({ kept }) => kept);
};
