import { feedbackCreate } from '../../../api/feedback.ts';
import { createOneFeedback } from '../../../core/records/feedback/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /feedback/create`: stores one feedback record and answers it as it is stored. */
export const handler = endpoint(feedbackCreate, ({ body: draft, caller, addsOnly, budget }) =>
  createOneFeedback(stores.feedback, draft, caller.user, budget, { addsOnly }),
);
