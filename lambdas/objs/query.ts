import { objsQuery } from '../../api/requests.ts';
import { queryObjects } from '../../core/records/objects/index.ts';
import { jsonList } from '../http/json-list.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /objs/query`: the versions of a project's objects that match, streamed as one JSON object.
 */
export const handler = streamJsonEndpoint(
  {
    ...objsQuery(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ({ body, budget }) => {
    let rows = 0;
    const versions = queryObjects(settings.objects, body, budget);
    return {
      json: jsonList('objs', versions, (count) => {
        rows += count;
      }),
      offset: body.offset,
      logged: () => ({ rows }),
    };
  },
);
