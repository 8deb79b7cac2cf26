import { feedbackPurge } from '../../api/requests.ts';
import { purgeFeedback } from '../../core/records/feedback/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /feedback/purge`: deletes feedback records by their ids, payloads included. */
export const handler = jsonEndpoint(
  {
    ...feedbackPurge(settings.names),
    projects: (body) => [{ projectId: body.project_id, loc: ['project_id'] }],
    rows: ({ query: ids }) => ids.length,
  },
  async ({ body, budget }) => {
    await purgeFeedback(settings.feedback, body.project_id, body.query, budget);
    return {};
  },
);
