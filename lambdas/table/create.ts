import { tableCreate } from '../../api/requests.ts';
import { createTable } from '../../core/records/tables/index.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /table/create`: makes a table of rows. It answers the digests of the table and of its rows,
 * which can be more than the rows themselves, so it is streamed.
 */
export const handler = streamJsonEndpoint(
  {
    ...tableCreate(),
    projects: ({ table }) => [{ projectId: table.project_id, loc: ['table', 'project_id'] }],
  },
  ({ body: { table }, budget }) => ({
    json: async () => {
      const { project_id: projectId, rows, expected_digest: expected } = table;
      const made = await createTable(settings.objects, projectId, rows, expected ?? null, budget);
      return JSON.stringify({ digest: made.digest, row_digests: made.rowDigests });
    },
    logged: () => ({ rows: table.rows.length }),
  }),
);
