import type { CallHeader } from '../calls/index.ts';
import { compareText, microsOf, type Sortable, type SortKey, sortable } from '../expression/index.ts';
import { keyBytes, type Slice, sortedByKeys, sortTies } from '../listing/index.ts';
import { invalid } from '../wire/index.ts';
import type { CallRow } from './row.ts';

/**
 * Compares calls by `started_at`, then by `id` ascending: the default order, or, descending, with
 * the latest first.
 */
export const compareCalls =
  (descending: boolean) =>
  (a: CallHeader, b: CallHeader): number =>
    (descending ? -1 : 1) * (a.start.startedAt - b.start.startedAt) || compareText(a.id, b.id);

/**
 * Puts calls that started in the same microsecond in order of their ids. The index gives them in
 * order of time. Scanned backwards their ids are backwards too, and it knows very long ids by a
 * digest.
 */
export const orderTies = (
  descending: boolean,
  batches: AsyncIterable<readonly CallHeader[]>,
): AsyncGenerator<readonly CallHeader[]> =>
  sortTies((a, b) => a.start.startedAt === b.start.startedAt, compareCalls(descending), batches);

const times: ReadonlySet<string> = new Set(['started_at', 'ended_at']);

/** Gives the values that a call is sorted by. */
const keyReader =
  (sort: readonly SortKey[]) =>
  (row: CallRow): Sortable[] =>
    sort.map(({ path }) => {
      const value = row.value(path);
      return sortable(times.has(path.text) ? microsOf(value) : value);
    });

/** Bytes in memory of a held call beside the texts that it is sorted by, about. */
const headerBytes = 1024;

const tooMany = invalid({
  loc: ['body', 'sort_by'],
  msg: 'too many calls to sort at once; ask for fewer with limit, filter or query, or sort by started_at',
  type: 'too_long',
});

/**
 * Sorts calls and takes a slice of them. Of each call it holds the header and what the call is
 * sorted by, of about twice as many calls as the slice ends at.
 *
 * @throws ServiceError 422 when those are more than fit into memory
 */
export const sortCalls = (
  sort: readonly SortKey[],
  slice: Slice,
  batches: AsyncIterable<readonly CallRow[]>,
): Promise<CallHeader[]> =>
  sortedByKeys(
    {
      sort,
      keyOf: keyReader(sort),
      keep: ({ header }: CallRow) => header,
      ties: compareCalls(false),
      sizeOf: ({ key }) => headerBytes + keyBytes(key),
      tooMany,
    },
    slice,
    batches,
  );
