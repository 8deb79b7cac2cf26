import type { CallHeader } from '../calls/index.ts';
import {
  compareBy,
  compareText,
  microsOf,
  type Sortable,
  type SortKey,
  sortable,
} from '../expression/index.ts';
import { invalid } from '../wire/index.ts';
import type { CallRow } from './row.ts';
import { type Cut, orderRuns, sortedPart } from './sorting.ts';

/**
 * Compares calls by `started_at`, then by `id` ascending: the default order, or, descending, with
 * the latest first.
 */
export const compareCalls =
  (descending: boolean) =>
  (a: CallHeader, b: CallHeader): number =>
    (descending ? -1 : 1) * (a.start.startedAt - b.start.startedAt) || compareText(a.id, b.id);

/**
 * Puts calls that started in the same microsecond in order of their ids. They come in order of
 * time, but scanned backwards the ids are backwards too, and very long ones are known to the index
 * by a digest.
 */
export const orderTies = (
  descending: boolean,
  batches: AsyncIterable<CallHeader[]>,
): AsyncGenerator<CallHeader[]> =>
  orderRuns((a, b) => a.start.startedAt === b.start.startedAt, compareCalls(descending), batches);

/**
 * Skips `offset` items and ends after `limit` more; null for no end. Nothing is asked for beyond
 * it.
 */
export async function* cut<T>(
  offset: number,
  limit: number | null,
  batches: AsyncIterable<T[]>,
): AsyncGenerator<T[]> {
  let skip = offset;
  let left = limit ?? Number.POSITIVE_INFINITY;
  for await (const batch of batches) {
    const kept = batch.slice(skip, skip + left);
    skip = Math.max(0, skip - batch.length);
    left -= kept.length;
    if (kept.length > 0) yield kept;
    if (left === 0) return;
  }
}

/** What is kept of a call while others are looked at: what it is sorted by, and its header. */
export interface Keyed {
  readonly key: readonly Sortable[];
  readonly header: CallHeader;
}

/** Makes what gives the values that a call is sorted by. */
export const keyReader = (sort: readonly SortKey[]): ((row: CallRow) => Sortable[]) => {
  const times = new Set(['started_at', 'ended_at']);
  return (row) =>
    sort.map(({ path }) => {
      const value = row.value(path);
      return sortable(times.has(path.text) ? microsOf(value) : value);
    });
};

/** What a kept call takes of memory beside the texts that it is sorted by, about, in bytes. */
const keptBytes = 1024;

const sizeOf = ({ key }: Keyed): number =>
  key.reduce((sum, value) => sum + (typeof value?.[1] === 'string' ? 2 * value[1].length : 0), keptBytes);

const tooMany = invalid({
  loc: ['body', 'sort_by'],
  msg: 'there are more calls than can be sorted at once; ask for fewer with limit, filter or query, or sort by started_at',
  type: 'too_long',
});

/**
 * Sorts calls and gives those from `offset` up to `limit` more, holding no more of them at a time
 * than about twice as many as are wanted.
 *
 * @throws ServiceError 422 when those are more than fit into memory
 */
export const sorted = (
  sort: readonly SortKey[],
  part: Cut,
  batches: AsyncIterable<Keyed[]>,
): Promise<Keyed[]> => {
  const byKey = compareBy(sort);
  const byDefault = compareCalls(false);
  const compare = (a: Keyed, b: Keyed): number => byKey(a.key, b.key) || byDefault(a.header, b.header);
  return sortedPart({ compare, sizeOf, tooMany }, part, batches);
};
