import type { Bounds, SortKey } from '../expression/index.ts';
import { chunked } from '../storage/index.ts';
import { type Slice, takeSlice } from './batches.ts';

/** How an order comes about: as the source is read, or by sorting what has been found. */
export type Order = 'free' | 'sort';

/** What plans have in common whose sources lie in order of time. */
export interface TimePlan extends Slice {
  /** The span of time that is looked at, inclusive, in microseconds. */
  readonly bounds: Bounds;
  /** Whether the source is read from its latest record on. */
  readonly descending: boolean;
  readonly order: Order;
  /**
   * How many records are enough to look at, offset included. Null when some that are read may be
   * dropped, so that the number is not known.
   */
  readonly enough: number | null;
}

/**
 * Whether an order is that of the source: by a time in either direction, then by id. The headers
 * suffice to put records of one time in order. Keys after `id` decide nothing.
 *
 * @param time the field that the source is in order of
 * @param withIds whether the source is in order of ids, too, so that it can be read backwards by
 * both
 */
export const isOrderOfSource = (
  [first, second]: readonly SortKey[],
  time: string,
  withIds = false,
): boolean => {
  if (first === undefined) return true;
  if (first.path.text !== time) return false;
  if (second === undefined) return true;
  return second.path.text === 'id' && (!second.descending || (withIds && first.descending));
};

/** Whether bounds leave no time. */
export const isEmptySpan = ({ from, to }: Bounds): boolean =>
  from !== undefined && to !== undefined && from > to;

/** Each value once; undefined when there are more than `max`, too many to look each up. */
export const distinctUpTo = (
  values: readonly string[] | undefined,
  max: number,
): readonly string[] | undefined => {
  const distinct = values && [...new Set(values)];
  return distinct && distinct.length <= max ? distinct : undefined;
};

/** Rows asked for beyond an even share, since ranges are never quite even. */
const spare = 8;

/**
 * How many rows to ask each range for at first, when it is known how many rows are enough in all.
 * It is an even share and some to spare.
 */
export const evenShare = (rows: number, ranges: number): number => Math.ceil(rows / ranges) + spare;

/** With more ranges than this, none is read ahead: each would have up to 1 MB under way. */
const maxRangesAhead = 32;

/** Whether to read ranges ahead: all rows will be wanted, and the ranges are few. */
export const readsAhead = (
  { order, limit }: { readonly order: 'free' | 'sort'; readonly limit: number | null },
  ranges: number,
): boolean => (limit === null || order === 'sort') && ranges <= maxRangesAhead;

/** How many sorted items make a batch. */
const sortedBatch = 500;

/**
 * The slice of an answer in the order of its plan.
 *
 * @param found what is answered, in the order of the source
 * @param sorted sorts what was found and takes the slice of it
 * @throws what `found` and `sorted` throw
 */
export async function* inPlannedOrder<T>(
  plan: Slice & { readonly order: Order },
  found: AsyncIterable<readonly T[]>,
  sorted: () => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  if (plan.order === 'free') yield* takeSlice(plan, found);
  else yield* chunked(await sorted(), sortedBatch);
}
