import { callsDelete } from '../../../api/calls.ts';
import { deleteCalls } from '../../../core/records/calls/index.ts';
import { deleteFeedbackOn } from '../../../core/records/feedback/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /calls/delete`: deletes calls with all their descendants, and the feedback on them unless
 * the deployment keeps it. Its short answer is streamed, because a buffered one may take no longer
 * than 29 seconds.
 */
export const handler = endpoint(callsDelete, async ({ body: { projectId, callIds }, budget, describe }) => {
  const { calls, feedbackToErase: feedback } = stores;
  let deleted = 0;
  describe(() => ({ rows: deleted }));
  deleted = await deleteCalls(calls, projectId, callIds, budget, async (ids) => {
    if (feedback) await deleteFeedbackOn(feedback, projectId, ids, budget);
  });
  return { num_deleted: deleted };
});
