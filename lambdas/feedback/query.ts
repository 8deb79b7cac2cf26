import { feedbackQuery } from '../../api/feedback.ts';
import { countFeedback, feedbackPlanSummary, queryFeedback } from '../../core/records/feedback/index.ts';
import { jsonList } from '../http/answer.ts';
import { policy } from '../http/dialect.ts';
import { endpoint, streamJson } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /feedback/query`: the feedback of a project that matches, streamed as it is found. */
export const handler = endpoint(feedbackQuery, ({ body, budget, describe }) => {
  const { plan, counts, records } = queryFeedback(settings.feedback, body, budget);
  describe(() => ({ plan: feedbackPlanSummary(plan), rows: counts.sent, scanned: counts.scanned }));
  const total = async () => {
    if (!policy.feedbackCount) return '';
    return `,"total_count":${await countFeedback(settings.feedback, body, counts.sent, budget)}`;
  };
  return streamJson(jsonList('result', records, undefined, total), body.offset);
});
