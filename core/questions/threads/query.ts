import { encodeBatches, inPlannedOrder, mapBatches } from '../../foundations/listing/index.ts';
import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { threadCsv, threadCsvHeader, threadJson } from './fields.ts';
import { orderLongIds, sortThreads } from './order.ts';
import { type Plan, plan } from './plan.ts';
import { type ReadCounts, readThreads } from './read.ts';
import type { ThreadsQuery } from './request.ts';

/** What answering a query over threads took so far. */
export interface ThreadsCounts extends ReadCounts {
  /** Threads answered. */
  sent: number;
}

/**
 * A query over threads under way: its plan, the counts as they grow, and the answer in two forms.
 * One of the two is to be taken, once.
 */
export interface ThreadsAnswer {
  readonly plan: Plan;
  readonly counts: ThreadsCounts;
  /** The threads as JSON text, one each, in batches that come as soon as they are known. */
  readonly threads: AsyncGenerator<readonly string[]>;
  /** The threads as lines of CSV, after a line that names the fields. */
  readonly csv: AsyncGenerator<readonly string[]>;
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
  const found = readThreads(store, query.projectId, planned, counts, budget);
  const { after, before } = query.filter;
  const passing = mapBatches(found, (batch) =>
    batch.filter(
      ({ startTime, lastUpdated }) =>
        (after === null || startTime > after) && (before === null || lastUpdated < before),
    ),
  );
  const inOrderOfIds = orderLongIds(planned.descending, passing);
  const answered = inPlannedOrder(planned, inOrderOfIds, () => sortThreads(query.sort, planned, passing));
  return {
    plan: planned,
    counts,
    threads: encodeBatches(answered, counts, threadJson),
    csv: withHeader(encodeBatches(answered, counts, threadCsv)),
  };
};

/**
 * Puts the header before the first threads, or alone at the end. What fails before the first
 * threads is then an error like any other.
 */
async function* withHeader(batches: AsyncIterable<readonly string[]>): AsyncGenerator<readonly string[]> {
  let header = [threadCsvHeader];
  for await (const batch of batches) {
    yield [...header, ...batch];
    header = [];
  }
  if (header.length > 0) yield header;
}
