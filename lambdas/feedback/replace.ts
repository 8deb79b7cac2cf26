import { feedbackReplace } from '../../api/feedback.ts';
import { createdJson, replaceFeedback } from '../../core/records/feedback/index.ts';
import { endpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/**
 * `POST /feedback/replace`: replaces a feedback record by another in one transaction, and answers
 * the new one as it is stored.
 */
export const handler = endpoint(feedbackReplace, async ({ body, caller, budget }) => {
  const { feedbackId, ...draft } = body;
  const replacement = { feedbackId, draft };
  return createdJson(await replaceFeedback(settings.feedback, replacement, caller.user, budget));
});
