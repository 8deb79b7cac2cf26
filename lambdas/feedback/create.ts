import { createdJson, createFeedback } from '../../core/feedback/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';
import { feedbackCreate } from '../requests.ts';

/** `POST /feedback/create`: stores one feedback record and answers it as it is stored. */
export const handler = jsonEndpoint(
  {
    ...feedbackCreate(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  async ({ body: draft, caller, effort }) => {
    const answers = await createFeedback(settings.feedback, [{ draft, loc: [] }], caller.user, effort);
    return answers.map((answer) => createdJson(settings.names, answer))[0];
  },
);
