import { callContext, traceAgents } from '../../api/traces.ts';
import { readContext, readTraceAgents } from '../../core/questions/traces/index.ts';
import { byPath, to } from '../common/http/by-path.ts';
import { work } from '../common/http/endpoint.ts';
import { lookupsFor } from '../common/http/lookups.ts';
import { stores } from '../common/http/stores.ts';

/*
 * What is added up over traces and calls. One function answers these endpoints, which read the same stores.
 */

/** What each agent of some traces did and used. */
const agents = work(traceAgents, async ({ body, caller, budget, describe }) => {
  const { projectId, traceIds } = body;
  const traces = await readTraceAgents(stores.calls, projectId, traceIds, budget, lookupsFor(caller));
  describe(() => ({ rows: traces.length }));
  return { traces };
});

/** How the input tokens of a request to a model divide. */
const context = work(callContext, ({ body, caller, budget }) =>
  readContext(stores.calls, body.projectId, body.id, budget, lookupsFor(caller)),
);

export const handler = byPath({
  // Weave's door leads there, too.
  '/calls/usage': to(() => import('./calls/usage.ts')),
  '/trace/agents': to(async () => ({ handler: agents })),
  '/call/context': to(async () => ({ handler: context })),
});
