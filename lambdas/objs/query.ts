import { queryObjects } from '../../core/objects/index.ts';
import { jsonList } from '../http/json-list.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';
import { objsQuery } from '../requests.ts';

/** `POST /objs/query`: the versions of a project's objects that match, streamed as one JSON object. */
export const handler = streamEndpoint(
  {
    ...objsQuery(),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ['application/json'],
  ({ body, effort }) => {
    let rows = 0;
    const versions = queryObjects(settings.objects, settings.names, body, effort);
    return {
      text: jsonList('objs', versions, (count) => {
        rows += count;
      }),
      logged: () => ({ rows }),
    };
  },
);
