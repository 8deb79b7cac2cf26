import { traceUsage } from '../../api/requests.ts';
import { traceUsageOf } from '../../core/questions/stats/index.ts';
import { lookupsFor } from '../http/lookups.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /trace/usage`: what the calls of a selection used, each with all that is below it, by
 * model.
 */
export const handler = streamJsonEndpoint(
  {
    ...traceUsage(settings.names),
    projects: ({ selection }) => [{ projectId: selection.projectId, loc: ['project_id'] }],
  },
  ({ body, caller, budget }) => ({
    json: async () => JSON.stringify(await traceUsageOf(settings.calls, body, budget, lookupsFor(caller))),
  }),
);
