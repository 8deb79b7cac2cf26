import { feedbackReplace } from '../../api/requests.ts';
import { createdJson, replaceFeedback } from '../../core/records/feedback/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/**
 * `POST /feedback/replace`: replaces a feedback record by another in one transaction, and answers
 * the new one as it is stored.
 */
export const handler = jsonEndpoint(
  {
    ...feedbackReplace(settings.names),
    projects: ({ draft: { projectId } }) => [{ projectId, loc: ['project_id'] }],
  },
  async ({ body, caller, budget }) =>
    createdJson(settings.names, await replaceFeedback(settings.feedback, body, caller.user, budget)),
);
