import { type ThreadRow, type ThreadSortKey, type ThreadsQuery, threadFields } from '../../../api/threads.ts';
import { orderedByDigest } from '../../../foundations/encoding/index.ts';
import { compareText, sortable } from '../../../foundations/expression/index.ts';
import {
  encodeBatches,
  inPlannedOrder,
  type Keyed,
  mapBatches,
  readsAhead,
  type Slice,
  sortedByKeys,
  sortTies,
} from '../../../foundations/listing/index.ts';
import {
  chunked,
  everyShard,
  possibleShards,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { AnyIndexRange } from '../../../foundations/storage/tables.ts';
import {
  csvLine,
  formatTime,
  invalid,
  type Micros,
  type ProjectId,
} from '../../../foundations/wire/index.ts';
import { type CallHeader, getSource, threadRange, turnsRange } from '../../records/calls/index.ts';
import { among, joinParts, scanParts } from '../query/index.ts';
import { type Plan, plan } from './plan.ts';
import { ThreadFold, type Turn } from './statistics.ts';

/** What answering a query over threads took so far. */
interface ThreadsCounts extends ReadCounts {
  /** Threads answered. */
  sent: number;
}

/**
 * A query over threads under way, with the counts as they grow. The answer is taken once, in one of
 * its forms.
 */
export interface ThreadsAnswer {
  readonly plan: Plan;
  readonly counts: ThreadsCounts;
  /** Gives the threads as JSON text, one each, in batches that come as soon as they are known. */
  readonly json: () => AsyncGenerator<readonly string[]>;
  /** Gives the threads as lines of CSV, after a line that names the fields. */
  readonly csv: () => AsyncGenerator<readonly string[]>;
}

/**
 * Answers a query over a project's threads. It reads turns alone. Ending the iteration ends the
 * scan.
 *
 * @throws ServiceError 503, while the answer is iterated, when storage does not give something in
 * time; 422 when there are too many threads to sort
 */
export const queryThreads = (store: Store, query: ThreadsQuery, budget: RequestBudget): ThreadsAnswer => {
  const planned = plan(query);
  const counts: ThreadsCounts = { rows: 0, turns: 0, threads: 0, sent: 0 };
  const found = readThreads(store, query, planned, counts, budget);
  // Times as they are answered are in order as texts too.
  const toText = (time: Micros | null) => (time === null ? null : formatTime(time));
  const after = toText(query.filter.after);
  const before = toText(query.filter.before);
  const passing = mapBatches(found, (batch) =>
    batch.filter(
      ({ start_time, last_updated }) =>
        (after === null || start_time > after) && (before === null || last_updated < before),
    ),
  );
  const inOrderOfIds = orderLongIds(planned.descending, passing);
  const answered = inPlannedOrder(planned, inOrderOfIds, () => sortThreads(query.sort, planned, passing));
  return {
    plan: planned,
    counts,
    json: () => encodeBatches(answered, counts, (thread) => JSON.stringify(thread)),
    csv: () => withHeader(encodeBatches(answered, counts, (thread) => csvLine(Object.values(thread)))),
  };
};

/**
 * Puts the header before the first threads, or alone at the end. What fails before the first
 * threads is then an error like any other.
 */
async function* withHeader(batches: AsyncIterable<readonly string[]>): AsyncGenerator<readonly string[]> {
  let header = [csvLine(threadFields())];
  for await (const batch of batches) {
    yield [...header, ...batch];
    header = [];
  }
  if (header.length > 0) yield header;
}

/** What reading threads took so far. */
interface ReadCounts {
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
const toRanges = (
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
          possibleShards(store, id).map((shard) => threadRange(projectId, id, true, shard, {})),
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
 */
async function* readThreads(
  store: Store,
  { projectId, filter: { sources } }: ThreadsQuery,
  plan: Plan,
  counts: ReadCounts,
  budget: RequestBudget,
): AsyncGenerator<ThreadRow[]> {
  const { descending } = plan;
  const isFrom = among(sources);
  for (const ranges of toRanges(store, projectId, plan)) {
    const ahead = readsAhead(plan, ranges.length);
    const options = { descending, firstPage: firstPageRows(plan), ahead, byThread: true };
    const rows = mapBatches(scanParts(store, projectId, ranges, options, budget), (batch) => {
      counts.rows += batch.length;
      return batch;
    });
    const turns = joinParts(store, projectId, rows, budget);
    const counted = isFrom
      ? mapBatches(turns, (batch) => batch.filter(({ start }) => isFrom(getSource(start))))
      : turns;
    yield* foldThreads(counted, counts);
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
): AsyncGenerator<ThreadRow[]> {
  let fold: ThreadFold | undefined;
  for await (const batch of batches) {
    const folded: ThreadRow[] = [];
    counts.turns += batch.length;
    for (const header of batch) {
      const { threadId } = header.start;
      // Calls without a thread are not in this index.
      if (threadId === null) continue;
      if (fold?.threadId === threadId) {
        fold.add(toTurn(header));
        continue;
      }
      if (fold) folded.push(fold.row());
      fold = new ThreadFold(threadId, toTurn(header));
      counts.threads++;
    }
    if (folded.length > 0) yield folded;
  }
  if (fold) yield [fold.row()];
}

/** Bytes in memory of a held thread beside its ids, about. */
const statisticsBytes = 512;

const getSize = ({ kept: { thread_id, first_turn_id, last_turn_id } }: Keyed<ThreadRow>): number =>
  statisticsBytes + 2 * (thread_id.length + first_turn_id.length + last_turn_id.length);

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
  batches: AsyncIterable<readonly ThreadRow[]>,
): Promise<ThreadRow[]> =>
  sortedByKeys(
    {
      sort,
      toKey: (thread: ThreadRow) => sort.map(({ field }) => sortable(thread[field])),
      keep: (thread) => thread,
      ties: (a, b) => compareText(a.thread_id, b.thread_id),
      getSize,
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
  batches: AsyncIterable<readonly ThreadRow[]>,
): AsyncGenerator<readonly ThreadRow[]> =>
  sortTies(
    (a, b) => orderedByDigest(a.thread_id, b.thread_id),
    (a, b) => (descending ? -1 : 1) * compareText(a.thread_id, b.thread_id),
    batches,
  );
