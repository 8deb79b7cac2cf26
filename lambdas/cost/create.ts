import { costCreate } from '../../api/requests.ts';
import { createPrices } from '../../core/records/costs/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /cost/create`: stores prices of models and answers their ids. */
export const handler = jsonEndpoint(
  {
    ...costCreate(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
    rows: ({ terms }) => terms.length,
  },
  async ({ body, caller, budget }) => ({
    ids: await createPrices(settings.costs, body, caller.user, budget),
  }),
);
