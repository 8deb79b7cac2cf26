import { compareText } from '../../foundations/expression/index.ts';
import { mapBatches, readsAhead } from '../../foundations/listing/index.ts';
import {
  chunked,
  everyShard,
  type RequestBudget,
  type Store,
  shardsOf,
} from '../../foundations/storage/index.ts';
import type { AnyIndexRange } from '../../foundations/storage/tables.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { type CallHeader, threadRange, turnsRange } from '../../records/calls/index.ts';
import { joinParts, scanParts } from '../query/index.ts';
import type { Plan } from './plan.ts';
import { ThreadFold, type ThreadStatistics, type Turn } from './statistics.ts';

/** What reading threads took so far. */
export interface ReadCounts {
  /** Index rows. */
  rows: number;
  turns: number;
  /** Threads, before any filter on their statistics. */
  threads: number;
}

/** How many threads are looked up side by side. */
const threadsAtOnce = 16;
/**
 * How many rows to ask each range for at first. 128 are something to send at once, and fold most
 * threads whole. When all turns of the project are read before anything is sent, pages are of 1 MB.
 */
const firstPageRows = ({ source, order }: Plan): number =>
  source.kind === 'project' && order === 'sort' ? Number.POSITIVE_INFINITY : 128;

/**
 * The key ranges of a plan's source, in groups that are read one after the other. All ranges of a
 * thread are in one group.
 */
const rangesOf = (
  store: Store,
  projectId: ProjectId,
  { source, descending }: Plan,
): AnyIndexRange<'calls'>[][] => {
  switch (source.kind) {
    case 'nothing':
      return [];
    case 'project':
      return [everyShard(store).map((shard) => turnsRange(projectId, shard))];
    case 'threads': {
      const ids = source.ids.toSorted(compareText);
      return chunked(descending ? ids.reverse() : ids, threadsAtOnce).map((group) =>
        group.flatMap((id) =>
          shardsOf(store, id).map((shard) => threadRange(projectId, id, true, shard, {})),
        ),
      );
    }
  }
};

/**
 * Reads the turns of a plan's threads and folds them thread by thread, in the order of the index.
 * It holds the durations of one thread at a time.
 *
 * @param counts grow as it reads
 * @throws ServiceError 503 when storage does not give something in time
 */
export async function* readThreads(
  store: Store,
  projectId: ProjectId,
  plan: Plan,
  counts: ReadCounts,
  budget: RequestBudget,
): AsyncGenerator<ThreadStatistics[]> {
  const { descending } = plan;
  for (const ranges of rangesOf(store, projectId, plan)) {
    const ahead = readsAhead(plan, ranges.length);
    const options = { descending, firstPage: firstPageRows(plan), ahead, byThread: true };
    const rows = mapBatches(scanParts(store, projectId, ranges, options, budget), (batch) => {
      counts.rows += batch.length;
      return batch;
    });
    yield* foldThreads(joinParts(store, projectId, rows, budget), counts);
  }
}

const toTurn = ({ id, start, end }: CallHeader): Turn => ({
  id,
  startedAt: start.startedAt,
  endedAt: end?.endedAt ?? null,
});

/** Folds turns into threads; the turns of a thread are neighbours. */
async function* foldThreads(
  batches: AsyncIterable<readonly CallHeader[]>,
  counts: ReadCounts,
): AsyncGenerator<ThreadStatistics[]> {
  let fold: ThreadFold | undefined;
  for await (const batch of batches) {
    const folded: ThreadStatistics[] = [];
    counts.turns += batch.length;
    for (const header of batch) {
      const { threadId } = header.start;
      // Calls without a thread are not in this index.
      if (threadId === null) continue;
      if (fold?.threadId === threadId) {
        fold.add(toTurn(header));
        continue;
      }
      if (fold) folded.push(fold.statistics());
      fold = new ThreadFold(threadId, toTurn(header));
      counts.threads++;
    }
    if (folded.length > 0) yield folded;
  }
  if (fold) yield [fold.statistics()];
}
