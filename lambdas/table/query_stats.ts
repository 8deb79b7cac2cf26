import { tableQueryStats } from '../../api/requests.ts';
import { noTable, readSizes } from '../../core/records/tables/index.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/** `POST /table/query_stats`: how many rows a table has. */
export const handler = streamJsonEndpoint(
  {
    ...tableQueryStats(),
    projects: ({ project_id: projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ({ body: { project_id: projectId, digest }, budget }) => ({
    json: async () => {
      const size = (await readSizes(settings.objects, projectId, [digest], budget)).get(digest);
      if (!size) throw noTable(projectId, digest);
      return JSON.stringify({ count: size.count });
    },
  }),
);
