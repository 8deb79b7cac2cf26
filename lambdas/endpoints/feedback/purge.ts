import { feedbackPurge } from '../../../api/feedback.ts';
import { purgeFeedback } from '../../../core/records/feedback/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { settings } from '../../common/http/settings.ts';

/** `POST /feedback/purge`: deletes feedback records by their ids, payloads included. */
export const handler = endpoint(feedbackPurge, async ({ body: { projectId, ids }, budget, describe }) => {
  await purgeFeedback(settings.feedback, projectId, ids, budget);
  describe(() => ({ rows: ids.length }));
  return {};
});
