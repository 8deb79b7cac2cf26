import { cut } from '../query/index.ts';
import { chunked, type RequestBudget, type Store } from '../storage/index.ts';
import { threadCsv, threadCsvHeader, threadJson } from './fields.ts';
import { orderLongIds, sortThreads } from './order.ts';
import { type Plan, plan } from './plan.ts';
import { type ReadCounts, readThreads } from './read.ts';
import type { ThreadsFilter, ThreadsQuery } from './request.ts';
import type { ThreadStatistics } from './statistics.ts';

/** What answering a query over threads took so far. */
export interface ThreadsCounts extends ReadCounts {
  /** Threads answered. */
  sent: number;
}

/**
 * A query over threads under way: its plan, the counts as they grow, and the answer in two forms,
 * one of which is to be taken once.
 */
export interface ThreadsAnswer {
  readonly plan: Plan;
  readonly counts: ThreadsCounts;
  /** The threads as JSON text, one each, in batches that come as soon as they are known. */
  readonly threads: AsyncGenerator<string[]>;
  /** The threads as lines of CSV, after a line that names the fields. */
  readonly csv: AsyncGenerator<string[]>;
}

/** Sorted threads are answered in batches of so many. */
const sortedBatch = 500;

/**
 * Answers a query over a project's threads, reading turns alone. Ending the iteration ends the
 * scan.
 *
 * @throws ServiceError 503, while the answer is iterated, when storage does not give something in
 * time; 422 when there are too many threads to be sorted
 */
export const queryThreads = (store: Store, query: ThreadsQuery, budget: RequestBudget): ThreadsAnswer => {
  const planned = plan(query);
  const counts: ThreadsCounts = { rows: 0, turns: 0, threads: 0, sent: 0 };
  const found = readThreads(store, query.projectId, planned, counts, budget);
  const answered = inOrder(query, planned, passing(query.filter, found));
  return {
    plan: planned,
    counts,
    threads: encoded(answered, counts, threadJson),
    csv: withHeader(encoded(answered, counts, threadCsv)),
  };
};

async function* passing(
  { after, before }: ThreadsFilter,
  batches: AsyncIterable<readonly ThreadStatistics[]>,
): AsyncGenerator<ThreadStatistics[]> {
  for await (const batch of batches)
    yield batch.filter(
      ({ startTime, lastUpdated }) =>
        (after === null || startTime > after) && (before === null || lastUpdated < before),
    );
}

async function* inOrder(
  { sort }: ThreadsQuery,
  { order, descending, offset, limit }: Plan,
  batches: AsyncIterable<ThreadStatistics[]>,
): AsyncGenerator<ThreadStatistics[]> {
  if (order === 'free') yield* cut(offset, limit, orderLongIds(descending, batches));
  else yield* chunked(await sortThreads(sort, { offset, limit }, batches), sortedBatch);
}

async function* encoded(
  batches: AsyncIterable<readonly ThreadStatistics[]>,
  counts: ThreadsCounts,
  encode: (thread: ThreadStatistics) => string,
): AsyncGenerator<string[]> {
  for await (const batch of batches) {
    counts.sent += batch.length;
    yield batch.map(encode);
  }
}

/**
 * The header goes with the first threads, or alone at the end: what fails before them is then an
 * error like any other.
 */
async function* withHeader(batches: AsyncIterable<string[]>): AsyncGenerator<string[]> {
  let header = [threadCsvHeader];
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    yield [...header, ...batch];
    header = [];
  }
  if (header.length > 0) yield header;
}
