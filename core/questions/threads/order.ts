import { orderedByDigest } from '../../foundations/encoding/index.ts';
import { compareText, sortable } from '../../foundations/expression/index.ts';
import { type Keyed, type Slice, sortedByKeys, sortTies } from '../../foundations/listing/index.ts';
import { invalid } from '../../foundations/wire/index.ts';
import { fieldValue } from './fields.ts';
import type { ThreadSortKey } from './request.ts';
import type { ThreadStatistics } from './statistics.ts';

/** Bytes in memory of a held thread beside its ids, about. */
const statisticsBytes = 512;

const sizeOf = ({ kept: { threadId, firstTurnId, lastTurnId } }: Keyed<ThreadStatistics>): number =>
  statisticsBytes + 2 * (threadId.length + firstTurnId.length + lastTurnId.length);

const tooMany = invalid({
  loc: ['body', 'sort_by'],
  msg: 'too many threads to sort at once; ask for fewer with limit or filter, or sort by thread_id',
  type: 'too_long',
});

/**
 * Sorts threads by fields and takes a slice of them. Missing values come last in both directions;
 * ties are in order of `thread_id`.
 *
 * @throws ServiceError 422 when more threads than fit into memory would have to be held
 */
export const sortThreads = (
  sort: readonly ThreadSortKey[],
  slice: Slice,
  batches: AsyncIterable<readonly ThreadStatistics[]>,
): Promise<ThreadStatistics[]> =>
  sortedByKeys(
    {
      sort,
      keyOf: (thread: ThreadStatistics) => sort.map(({ field }) => sortable(fieldValue(field, thread))),
      keep: (thread) => thread,
      ties: (a, b) => compareText(a.threadId, b.threadId),
      sizeOf,
      tooMany,
    },
    slice,
    batches,
  );

/**
 * Puts threads in order of their ids that come in order of the index: it has a digest of long ids.
 */
export const orderLongIds = (
  descending: boolean,
  batches: AsyncIterable<readonly ThreadStatistics[]>,
): AsyncGenerator<readonly ThreadStatistics[]> =>
  sortTies(
    (a, b) => orderedByDigest(a.threadId, b.threadId),
    (a, b) => (descending ? -1 : 1) * compareText(a.threadId, b.threadId),
    batches,
  );
