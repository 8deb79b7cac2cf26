import { callRead } from '../../api/requests.ts';
import { readCallJson } from '../../core/questions/query/index.ts';
import { lookupsFor } from '../http/lookups.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /call/read`: one call by its id, strongly consistent. It is streamed, since a call can be
 * larger than a buffered answer.
 */
export const handler = streamJsonEndpoint(
  {
    ...callRead(),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ({ body, caller, budget }) => ({
    json: async () => `{"call":${await readCallJson(settings.calls, body, budget, lookupsFor(caller))}}`,
  }),
);
