import { callContext } from '../../../api/traces.ts';
import { readContext, readContexts } from '../../../core/questions/traces/index.ts';
import { work } from '../../common/http/endpoint.ts';
import { lookupsFor } from '../../common/http/lookups.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /call/context`: how the input tokens of a request to a model divide, or those of several. */
export const handler = work(callContext, async ({ body, caller, budget, describe }) => {
  const { projectId, id, ids } = body;
  const lookups = lookupsFor(caller);
  if (id !== null) return readContext(stores.calls, projectId, id, budget, lookups);
  const contexts = await readContexts(stores.calls, projectId, ids ?? [], budget, lookups);
  describe(() => ({ rows: contexts.length }));
  return { contexts };
});
