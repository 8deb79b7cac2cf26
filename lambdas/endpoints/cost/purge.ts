import { costPurge } from '../../../api/costs.ts';
import { purgePrices } from '../../../core/records/costs/index.ts';
import { auditing, deletionOf } from '../../common/http/audit.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /cost/purge`: deletes prices by their ids. */
export const handler = endpoint(costPurge, async (request) => {
  const { budget, describe } = request;
  const { projectId, ids } = request.body;
  if (ids.length > 0) await auditing(request)(deletionOf('costs.purge', projectId, ids));
  await purgePrices(stores.costs, projectId, ids, budget);
  describe(() => ({ rows: ids.length }));
  return {};
});
