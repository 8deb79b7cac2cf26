import { costQuery } from '../../api/requests.ts';
import { queryPrices } from '../../core/records/costs/index.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /cost/query`: a project's own prices. They are streamed, since they can be more than a
 * buffered answer may hold.
 */
export const handler = streamJsonEndpoint(
  {
    ...costQuery(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ({ body, budget }) => {
    let rows = 0;
    return {
      json: async () => {
        const results = await queryPrices(settings.costs, body, budget);
        rows = results.length;
        return JSON.stringify({ results });
      },
      logged: () => ({ rows }),
    };
  },
);
