import { callRead } from '../../api/requests.ts';
import { readCallJson } from '../../core/query/index.ts';
import { lookupsFor } from '../http/lookups.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

/**
 * `POST /call/read`: one call by its id, strongly consistent. It is streamed, since a call can be
 * larger than a buffered answer.
 */
export const handler = streamEndpoint(
  {
    ...callRead(),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ['application/json'],
  ({ body, caller, budget }) => ({
    text: (async function* () {
      yield `{"call":${await readCallJson(settings.calls, body, budget, lookupsFor(caller))}}`;
    })(),
    logged: () => ({ rows: 1 }),
  }),
);
