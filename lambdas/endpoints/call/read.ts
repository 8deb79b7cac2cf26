import { callRead } from '../../../api/queries.ts';
import { readCallJson } from '../../../core/questions/query/index.ts';
import { endpoint, wholeJson } from '../../common/http/endpoint.ts';
import { lookupsFor } from '../../common/http/lookups.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /call/read`: one call by its id, strongly consistent. It is streamed, since a call can be
 * larger than a buffered answer.
 */
export const handler = endpoint(callRead, async ({ body, caller, budget, door }) => {
  const call = await readCallJson(stores.calls, body, budget, lookupsFor(caller), door.names);
  return wholeJson(`{"call":${call}}`);
});
