import { callsStats } from '../../api/requests.ts';
import { statsOf } from '../../core/questions/stats/index.ts';
import { readPrices, steadyPrices } from '../../core/records/costs/index.ts';
import { lookupsFor } from '../http/lookups.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /calls/stats`: statistics of calls over time. It is streamed, since reading a month of
 * headers for the first time can take minutes.
 */
export const handler = streamJsonEndpoint(
  {
    ...callsStats(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ({ body, caller, budget }) => {
    const lookups = {
      ...lookupsFor(caller),
      steadyPrices: async (
        ...of: Parameters<typeof readPrices> extends [unknown, ...infer Rest] ? Rest : never
      ) => steadyPrices(of[0], await readPrices(settings.costs, ...of)),
    };
    const { plan, counts, answer } = statsOf(settings.calls, body, budget, lookups);
    return {
      json: async () => JSON.stringify(await answer()),
      logged: () => ({ plan, rows: plan.buckets, ...counts }),
    };
  },
);
