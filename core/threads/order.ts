import { orderedByDigest } from '../encoding/index.ts';
import { compareBy, compareText, type Sortable, sortable } from '../expression/index.ts';
import { type Cut, orderRuns, sortedPart } from '../query/index.ts';
import { invalid } from '../wire/index.ts';
import { fieldValue } from './fields.ts';
import type { ThreadSortKey } from './request.ts';
import type { ThreadStatistics } from './statistics.ts';

/** A thread and what it is sorted by. */
interface Keyed {
  readonly key: readonly Sortable[];
  readonly thread: ThreadStatistics;
}

/** What a kept thread takes of memory beside its ids, about, in bytes. */
const keptBytes = 512;

const sizeOf = ({ thread: { threadId, firstTurnId, lastTurnId } }: Keyed): number =>
  keptBytes + 2 * (threadId.length + firstTurnId.length + lastTurnId.length);

const tooMany = invalid({
  loc: ['body', 'sort_by'],
  msg: 'there are more threads than can be sorted at once; ask for fewer with limit or filter, or sort by thread_id',
  type: 'too_long',
});

/**
 * Sorts threads by fields, missing values last in both directions and ties by `thread_id`, and
 * gives those of a part.
 *
 * @throws ServiceError 422 when those are more than fit into memory
 */
export const sortThreads = async (
  sort: readonly ThreadSortKey[],
  part: Cut,
  batches: AsyncIterable<readonly ThreadStatistics[]>,
): Promise<ThreadStatistics[]> => {
  const byKey = compareBy(sort);
  const compare = (a: Keyed, b: Keyed): number =>
    byKey(a.key, b.key) || compareText(a.thread.threadId, b.thread.threadId);
  const keyed = async function* (): AsyncGenerator<Keyed[]> {
    for await (const batch of batches)
      yield batch.map((thread) => ({
        key: sort.map(({ field }) => sortable(fieldValue(field, thread))),
        thread,
      }));
  };
  const kept = await sortedPart({ compare, sizeOf, tooMany }, part, keyed());
  return kept.map(({ thread }) => thread);
};

/**
 * Puts threads in order of their ids that come in that of the index, which knows very long ids by a
 * digest.
 */
export const orderLongIds = (
  descending: boolean,
  batches: AsyncIterable<readonly ThreadStatistics[]>,
): AsyncGenerator<ThreadStatistics[]> =>
  orderRuns(
    (a, b) => orderedByDigest(a.threadId, b.threadId),
    (a, b) => (descending ? -1 : 1) * compareText(a.threadId, b.threadId),
    batches,
  );
