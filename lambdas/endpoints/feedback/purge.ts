import { feedbackPurge } from '../../../api/feedback.ts';
import { purgeFeedback } from '../../../core/records/feedback/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /feedback/purge`: deletes feedback records by their ids, payloads included. */
export const handler = endpoint(feedbackPurge, async ({ body: { projectId, ids }, budget, describe }) => {
  await purgeFeedback(stores.feedback, projectId, ids, budget);
  describe(() => ({ rows: ids.length }));
  return {};
});
