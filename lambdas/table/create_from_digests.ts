import { tableCreateFromDigests } from '../../api/requests.ts';
import { createTableFromDigests } from '../../core/records/tables/index.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/** `POST /table/create_from_digests`: makes a table of rows that are there. */
export const handler = streamJsonEndpoint(
  {
    ...tableCreateFromDigests(),
    projects: ({ project_id: projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ({ body, budget }) => ({
    json: async () => {
      const { project_id: projectId, row_digests: rows, expected_digest: expected } = body;
      const digest = await createTableFromDigests(
        settings.objects,
        projectId,
        rows,
        expected ?? null,
        budget,
      );
      return JSON.stringify({ digest });
    },
    logged: () => ({ rows: body.row_digests.length }),
  }),
);
