import { objsQuery } from '../../api/requests.ts';
import { queryObjects } from '../../core/objects/index.ts';
import { jsonList } from '../http/json-list.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

/**
 * `POST /objs/query`: the versions of a project's objects that match, streamed as one JSON object.
 */
export const handler = streamEndpoint(
  {
    ...objsQuery(),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ['application/json'],
  ({ body, budget }) => {
    let rows = 0;
    const versions = queryObjects(settings.objects, body, budget);
    return {
      text: jsonList('objs', versions, (count) => {
        rows += count;
      }),
      logged: () => ({ rows }),
    };
  },
);
