import { readCallJson } from '../../core/query/index.ts';
import { lookupsFor } from '../http/lookups.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';
import { callRead } from '../requests.ts';

/** `POST /call/read`: one call by its id, strongly consistent; streamed, since a call can be larger than a buffered answer. */
export const handler = streamEndpoint(
  {
    ...callRead(),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ['application/json'],
  ({ body, caller, effort }) => ({
    text: (async function* () {
      yield `{"call":${await readCallJson(settings.calls, body, effort, lookupsFor(caller))}}`;
    })(),
    logged: () => ({ rows: 1 }),
  }),
);
