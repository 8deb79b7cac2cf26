import { feedbackPurge } from '../../../api/feedback.ts';
import { purgeFeedback } from '../../../core/records/feedback/index.ts';
import { auditing, deletionOf } from '../../common/http/audit.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /feedback/purge`: deletes feedback records by their ids, payloads included. */
export const handler = endpoint(feedbackPurge, async (request) => {
  const { budget, describe } = request;
  const { projectId, ids } = request.body;
  if (ids.length > 0) await auditing(request)(deletionOf('feedback.purge', projectId, ids));
  await purgeFeedback(stores.feedback, projectId, ids, budget);
  describe(() => ({ rows: ids.length }));
  return {};
});
