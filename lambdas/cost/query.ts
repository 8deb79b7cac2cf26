import { queryPrices } from '../../core/costs/index.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';
import { costQuery } from '../requests.ts';

/** `POST /cost/query`: a project's own prices; streamed, since they can be more than a buffered answer may hold. */
export const handler = streamEndpoint(
  {
    ...costQuery(),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ['application/json'],
  ({ body, effort }) => ({
    text: (async function* () {
      yield JSON.stringify({ results: await queryPrices(settings.costs, body, effort) });
    })(),
    logged: () => ({}),
  }),
);
