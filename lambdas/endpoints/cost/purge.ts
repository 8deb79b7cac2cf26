import { costPurge } from '../../../api/costs.ts';
import { purgePrices } from '../../../core/records/costs/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /cost/purge`: deletes prices by their ids. */
export const handler = endpoint(costPurge, async ({ body: { projectId, ids }, budget, describe }) => {
  await purgePrices(stores.costs, projectId, ids, budget);
  describe(() => ({ rows: ids.length }));
  return {};
});
