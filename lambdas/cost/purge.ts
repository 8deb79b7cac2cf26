import { costPurge } from '../../api/requests.ts';
import { purgePrices } from '../../core/records/costs/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /cost/purge`: deletes prices by their ids. */
export const handler = jsonEndpoint(
  {
    ...costPurge(settings.names),
    projects: (body) => [{ projectId: body.project_id, loc: ['project_id'] }],
    rows: ({ query: ids }) => ids.length,
  },
  async ({ body, budget }) => {
    await purgePrices(settings.costs, body.project_id, body.query, budget);
    return {};
  },
);
