import { tableQueryStatsBatch } from '../../api/requests.ts';
import { readSizes } from '../../core/records/tables/index.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /table/query_stats_batch`: how many rows tables have, and their bytes as JSON if asked for.
 * A table that is not there is left out.
 */
export const handler = streamJsonEndpoint(
  {
    ...tableQueryStatsBatch(),
    projects: ({ project_id: projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ({ body: { project_id: projectId, digests, include_storage_size: withSize }, budget }) => ({
    json: async () => {
      const sizes = await readSizes(settings.objects, projectId, digests ?? [], budget);
      const tables = [...sizes].map(([digest, { count, bytes }]) => ({
        digest,
        count,
        storage_size_bytes: withSize ? bytes : null,
      }));
      return JSON.stringify({ tables });
    },
  }),
);
