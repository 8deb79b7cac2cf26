import { feedbackStats } from '../../../api/feedback-stats.ts';
import { computeFeedbackStats } from '../../../core/questions/stats/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /feedback/stats`: what feedback says over time. */
export const handler = endpoint(feedbackStats, ({ body, budget, describe }) => {
  const { plan, counts, answer } = computeFeedbackStats(stores.feedback, body, budget);
  describe(() => ({ plan, rows: counts.sent, scanned: counts.scanned }));
  return answer();
});
