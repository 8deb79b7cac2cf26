import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { type CallsSelection, type Lookups, queryCalls } from '../query/index.ts';
import { type UsageAnswer, usageOf } from './usage.ts';

/** Which calls are to be summed up, checked. */
export interface TraceUsageRequest {
  readonly selection: CallsSelection & { readonly limit: number };
  readonly withCosts: boolean;
}

/**
 * Sums what each call of a selection used with all that is below it, by model.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const traceUsageOf = async (
  store: Store,
  { selection, withCosts }: TraceUsageRequest,
  budget: RequestBudget,
  lookups: Lookups,
): Promise<UsageAnswer> => {
  const query = { ...selection, offset: 0, sort: [], columns: [], expand: [], returnExpanded: false };
  const callIds: string[] = [];
  const traceIds = new Set<string>();
  for await (const batch of queryCalls(store, query, budget, lookups).found)
    for (const { header } of batch) {
      callIds.push(header.id);
      traceIds.add(header.start.traceId);
    }
  const { projectId } = selection;
  const request = { projectId, callIds, traceIds: [...traceIds], withCosts };
  return (await usageOf(store, request, budget, lookups)).answer;
};
