import { readSizes } from '../../core/records/tables/index.ts';
import { tableQueryStatsBatch } from '../../weave/api/tables.ts';
import { endpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/**
 * `POST /table/query_stats_batch`: how many rows tables have, and their bytes as JSON if asked for.
 * A table that is not there is left out.
 */
export const handler = endpoint(tableQueryStatsBatch, async ({ body, budget }) => {
  const { projectId, digests, includeStorageSize: withSize } = body;
  const sizes = await readSizes(settings.objects, projectId, digests ?? [], budget);
  const tables = [...sizes].map(([digest, { count, bytes }]) => ({
    digest,
    count,
    storage_size_bytes: withSize ? bytes : null,
  }));
  return { tables };
});
