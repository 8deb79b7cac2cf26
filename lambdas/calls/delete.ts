import { callsDelete } from '../../api/requests.ts';
import { deleteCalls } from '../../core/calls/index.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

/**
 * `POST /calls/delete`: deletes calls with all their descendants. Its short answer is streamed,
 * because a buffered one may take no longer than 29 seconds.
 */
export const handler = streamEndpoint(
  {
    ...callsDelete(),
    projects: (body) => [{ projectId: body.project_id, loc: ['project_id'] }],
  },
  ['application/json'],
  ({ body, budget }) => {
    let deleted = 0;
    return {
      text: (async function* () {
        deleted = await deleteCalls(settings.calls, body.project_id, body.call_ids, budget);
        yield JSON.stringify({ num_deleted: deleted });
      })(),
      logged: () => ({ rows: deleted }),
    };
  },
);
