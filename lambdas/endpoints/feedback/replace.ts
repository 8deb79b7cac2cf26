import { feedbackReplace } from '../../../api/feedback.ts';
import { replaceFeedback } from '../../../core/records/feedback/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { settings } from '../../common/http/settings.ts';

/**
 * `POST /feedback/replace`: replaces a feedback record by another in one transaction, and answers
 * the new one as it is stored.
 */
export const handler = endpoint(feedbackReplace, ({ body: { feedbackId, ...draft }, caller, budget }) =>
  replaceFeedback(settings.feedback, { feedbackId, draft }, caller.user, budget),
);
