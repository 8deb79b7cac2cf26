import { callsUsage } from '../../../api/stats.ts';
import { computeUsage } from '../../../core/questions/stats/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { lookupsFor } from '../../common/http/lookups.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /calls/usage`: what calls used with all that is below them, by model. It is streamed, since
 * a thousand calls with many models can pass 6 MB.
 */
export const handler = endpoint(callsUsage, async ({ body, caller, budget, describe }) => {
  const rows = body.callIds.length;
  describe(() => ({ rows }));
  const { plan, answer } = await computeUsage(stores.calls, body, budget, lookupsFor(caller));
  describe(() => ({ rows, plan }));
  return answer;
});
