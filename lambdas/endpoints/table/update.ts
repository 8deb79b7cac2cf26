import { tableUpdate } from '../../../api/tables.ts';
import { updateTable } from '../../../core/records/tables/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /table/update`: makes a table of another one, by changes. The other one stays. */
export const handler = endpoint(tableUpdate, async ({ body, budget, describe, door }) => {
  const { projectId, baseDigest: base, updates } = body;
  describe(() => ({ rows: updates.length }));
  const { digest, touched } = await updateTable(
    stores.objects,
    projectId,
    base,
    updates,
    budget,
    door.digests,
  );
  return { digest, updated_row_digests: touched };
});
