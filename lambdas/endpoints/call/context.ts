import { callContext } from '../../../api/traces.ts';
import { readContext } from '../../../core/questions/traces/index.ts';
import { work } from '../../common/http/endpoint.ts';
import { lookupsFor } from '../../common/http/lookups.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /call/context`: how the input tokens of a request to a model divide. */
export const handler = work(callContext, ({ body, caller, budget }) =>
  readContext(stores.calls, body.projectId, body.id, budget, lookupsFor(caller)),
);
