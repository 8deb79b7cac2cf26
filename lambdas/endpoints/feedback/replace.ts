import { feedbackReplace } from '../../../api/feedback.ts';
import { replaceFeedback } from '../../../core/records/feedback/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /feedback/replace`: replaces a feedback record by another in one transaction, and answers
 * the new one as it is stored.
 */
export const handler = endpoint(feedbackReplace, ({ body: { feedbackId, ...draft }, caller, budget }) =>
  replaceFeedback(stores.feedback, { feedbackId, draft }, caller.user, budget),
);
