import { tableCreate } from '../../../api/tables.ts';
import { createTable } from '../../../core/records/tables/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /table/create`: makes a table of rows. It answers the digests of the table and of its rows,
 * which can be more than the rows themselves, so it is streamed.
 */
export const handler = endpoint(tableCreate, async ({ body: { table }, budget, describe, door }) => {
  const { projectId, rows, expectedDigest } = table;
  describe(() => ({ rows: rows.length }));
  const made = await createTable(stores.objects, projectId, rows, expectedDigest, budget, door.digests);
  return { digest: made.digest, row_digests: made.rowDigests };
});
