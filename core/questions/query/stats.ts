import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { storageSize } from '../../records/calls/index.ts';
import type { Lookups } from './enrich.ts';
import { type QueryAnswer, queryCalls } from './query.ts';
import type { CallsSelection } from './request.ts';

/** How many calls a selection has, and their bytes of JSON as they were received. */
export interface CallsStats {
  readonly count: number;
  readonly bytes: number;
}

/**
 * Counts calls. It reads no more of them than it takes to find them.
 *
 * @returns the query under way as well, for its plan and what it took
 * @throws ServiceError 503 when storage does not give something in time
 */
export const countCalls = (
  store: Store,
  selection: CallsSelection,
  budget: RequestBudget,
  lookups?: Lookups,
): { readonly query: QueryAnswer; readonly stats: () => Promise<CallsStats> } => {
  const query = queryCalls(
    store,
    { expand: [], ...selection, offset: 0, sort: [], columns: [], returnExpanded: false },
    budget,
    lookups,
  );
  const stats = async (): Promise<CallsStats> => {
    let [count, bytes] = [0, 0];
    for await (const batch of query.found) {
      count += batch.length;
      for (const { header } of batch) bytes += storageSize(header);
    }
    return { count, bytes };
  };
  return { query, stats };
};
