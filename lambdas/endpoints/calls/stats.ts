import { callsStats } from '../../../api/stats.ts';
import { computeStats } from '../../../core/questions/stats/index.ts';
import { readPrices, steadyPrices } from '../../../core/records/costs/index.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { lookupsFor } from '../../common/http/lookups.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /calls/stats`: statistics of calls over time. It is streamed, since reading a month of
 * headers for the first time can take minutes.
 */
export const handler = endpoint(callsStats, async ({ body, caller, budget, describe }) => {
  const lookups = {
    ...lookupsFor(caller),
    steadyPrices: async (projectId: ProjectId, budget: RequestBudget) =>
      steadyPrices(projectId, await readPrices(stores.costs, projectId, budget)),
  };
  const { plan, counts, answer } = computeStats(stores.calls, body, budget, lookups);
  describe(() => ({ plan, rows: plan.buckets, ...counts }));
  return answer();
});
