import { callsUsage } from '../../api/requests.ts';
import { type UsagePlan, usageOf } from '../../core/questions/stats/index.ts';
import { lookupsFor } from '../http/lookups.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /calls/usage`: what calls used with all that is below them, by model. It is streamed, since
 * a thousand calls with many models can pass 6 MB.
 */
export const handler = streamJsonEndpoint(
  {
    ...callsUsage(),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ({ body, caller, budget }) => {
    let plan: UsagePlan | undefined;
    return {
      json: async () => {
        const usage = await usageOf(settings.calls, body, budget, lookupsFor(caller));
        plan = usage.plan;
        return JSON.stringify(usage.answer);
      },
      logged: () => ({ rows: body.callIds.length, ...(plan && { plan }) }),
    };
  },
);
