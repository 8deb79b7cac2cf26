import { costQuery } from '../../api/requests.ts';
import { queryPrices } from '../../core/costs/index.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

/**
 * `POST /cost/query`: a project's own prices. They are streamed, since they can be more than a
 * buffered answer may hold.
 */
export const handler = streamEndpoint(
  {
    ...costQuery(),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ['application/json'],
  ({ body, budget }) => {
    let rows = 0;
    return {
      text: (async function* () {
        const results = await queryPrices(settings.costs, body, budget);
        rows = results.length;
        yield JSON.stringify({ results });
      })(),
      logged: () => ({ rows }),
    };
  },
);
