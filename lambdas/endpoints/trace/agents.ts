import { traceAgents } from '../../../api/traces.ts';
import { readTraceAgents } from '../../../core/questions/traces/index.ts';
import { work } from '../../common/http/endpoint.ts';
import { lookupsFor } from '../../common/http/lookups.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /trace/agents`: what each agent of some traces did and used. */
export const handler = work(traceAgents, async ({ body, caller, budget, describe }) => {
  const { projectId, traceIds } = body;
  const traces = await readTraceAgents(stores.calls, projectId, traceIds, budget, lookupsFor(caller));
  describe(() => ({ rows: traces.length }));
  return { traces };
});
