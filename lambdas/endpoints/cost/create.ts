import { costCreate } from '../../../api/costs.ts';
import { createPrices } from '../../../core/records/costs/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /cost/create`: stores prices of models and answers their ids. */
export const handler = endpoint(costCreate, async ({ body, caller, budget, describe }) => {
  const ids = await createPrices(stores.costs, body, caller.user, budget);
  describe(() => ({ rows: ids.length }));
  return { ids };
});
