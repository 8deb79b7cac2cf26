import { callsDelete } from '../../../api/calls.ts';
import { deleteCalls } from '../../../core/records/calls/index.ts';
import { deleteFeedbackOn } from '../../../core/records/feedback/index.ts';
import { auditing, deletionOf } from '../../common/http/audit.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /calls/delete`: deletes calls with all their descendants, and the feedback on them unless
 * the deployment keeps it. Its short answer is streamed, because a buffered one may take no longer
 * than 29 seconds.
 */
export const handler = endpoint(callsDelete, async (request) => {
  const { budget, describe } = request;
  const { projectId, callIds } = request.body;
  const { calls, feedbackToErase: feedback } = stores;
  let deleted = 0;
  describe(() => ({ rows: deleted }));
  if (callIds.length > 0) await auditing(request)(deletionOf('calls.delete', projectId, callIds));
  deleted = await deleteCalls(calls, projectId, callIds, budget, async (ids) => {
    if (feedback) await deleteFeedbackOn(feedback, projectId, ids, budget);
  });
  return { num_deleted: deleted };
});
