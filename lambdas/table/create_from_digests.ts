import { createTableFromDigests } from '../../core/records/tables/index.ts';
import { tableCreateFromDigests } from '../../weave/api/tables.ts';
import { endpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /table/create_from_digests`: makes a table of rows that are there. */
export const handler = endpoint(tableCreateFromDigests, async ({ body, budget, describe }) => {
  const { projectId, rowDigests: rows, expectedDigest: expected } = body;
  describe(() => ({ rows: rows.length }));
  return { digest: await createTableFromDigests(settings.objects, projectId, rows, expected, budget) };
});
