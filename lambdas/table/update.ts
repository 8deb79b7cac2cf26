import { tableUpdate } from '../../api/requests.ts';
import { updateTable } from '../../core/records/tables/index.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/** `POST /table/update`: makes a table of another one, by changes. The other one stays. */
export const handler = streamJsonEndpoint(
  {
    ...tableUpdate(),
    projects: ({ project_id: projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ({ body: { project_id: projectId, base_digest: base, updates }, budget }) => ({
    json: async () => {
      const { digest, touched } = await updateTable(settings.objects, projectId, base, updates, budget);
      return JSON.stringify({ digest, updated_row_digests: touched });
    },
    logged: () => ({ rows: updates.length }),
  }),
);
