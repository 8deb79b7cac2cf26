import { costQuery } from '../../../api/costs.ts';
import { queryPrices } from '../../../core/records/costs/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /cost/query`: a project's own prices. They are streamed, since they can be more than a
 * buffered answer may hold.
 */
export const handler = endpoint(costQuery, async ({ body, budget, describe }) => {
  const results = await queryPrices(stores.costs, body, budget);
  describe(() => ({ rows: results.length }));
  return { results };
});
