import { feedbackQuery } from '../../../api/feedback.ts';
import { countFeedback, feedbackPlanSummary, queryFeedback } from '../../../core/records/feedback/index.ts';
import { jsonList } from '../../common/http/answer.ts';
import { endpoint, streamJson } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /feedback/query`: the feedback of a project that matches, streamed as it is found. */
export const handler = endpoint(feedbackQuery, ({ body, budget, describe, door }) => {
  const { plan, counts, records } = queryFeedback(stores.feedback, body, budget, door.names);
  describe(() => ({ plan: feedbackPlanSummary(plan), rows: counts.sent, scanned: counts.scanned }));
  const total = async () => {
    if (!body.withTotal) return '';
    return `,"total_count":${await countFeedback(stores.feedback, body, counts.sent, budget)}`;
  };
  return streamJson(jsonList('result', records, undefined, total), body.offset);
});
