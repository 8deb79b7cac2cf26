import { feedbackCreate } from '../../../api/feedback.ts';
import { createOneFeedback } from '../../../core/records/feedback/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { settings } from '../../common/http/settings.ts';

/** `POST /feedback/create`: stores one feedback record and answers it as it is stored. */
export const handler = endpoint(feedbackCreate, ({ body: draft, caller, addsOnly, budget }) =>
  createOneFeedback(settings.feedback, draft, caller.user, budget, { addsOnly }),
);
