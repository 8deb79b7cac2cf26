import { traceUsageOf } from '../../core/questions/stats/index.ts';
import { traceUsage } from '../../weave/api/calls.ts';
import { endpoint } from '../http/endpoint.ts';
import { lookupsFor } from '../http/lookups.ts';
import { settings } from '../http/settings.ts';

/**
 * `POST /trace/usage`: what the calls of a selection used, each with all that is below it, by
 * model.
 */
export const handler = endpoint(traceUsage, async ({ body, caller, budget }) => {
  const { withCosts, ...selection } = body;
  return traceUsageOf(settings.calls, { selection, withCosts }, budget, lookupsFor(caller));
});
