import { feedbackCreate } from '../../api/feedback.ts';
import { createdJson, createOneFeedback } from '../../core/records/feedback/index.ts';
import { endpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /feedback/create`: stores one feedback record and answers it as it is stored. */
export const handler = endpoint(feedbackCreate, async ({ body: draft, caller, budget }) => {
  return createdJson(await createOneFeedback(settings.feedback, draft, caller.user, budget));
});
