import { feedbackCreate } from '../../api/requests.ts';
import { createdJson, createFeedback } from '../../core/records/feedback/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /feedback/create`: stores one feedback record and answers it as it is stored. */
export const handler = jsonEndpoint(
  {
    ...feedbackCreate(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  async ({ body: draft, caller, budget }) => {
    const answers = await createFeedback(settings.feedback, [{ draft, loc: [] }], caller.user, budget);
    return answers.map((answer) => createdJson(settings.names, answer))[0];
  },
);
