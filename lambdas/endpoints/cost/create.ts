import { costCreate } from '../../../api/costs.ts';
import { createPrices } from '../../../core/records/costs/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { settings } from '../../common/http/settings.ts';

/** `POST /cost/create`: stores prices of models and answers their ids. */
export const handler = endpoint(costCreate, async ({ body, caller, budget, describe }) => {
  const ids = await createPrices(settings.costs, body, caller.user, budget);
  describe(() => ({ rows: ids.length }));
  return { ids };
});
