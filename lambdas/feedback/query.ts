import { feedbackQuery } from '../../api/requests.ts';
import { feedbackPlanSummary, queryFeedback } from '../../core/feedback/index.ts';
import { jsonList } from '../http/json-list.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

/** `POST /feedback/query`: the feedback of a project that matches, streamed as it is found. */
export const handler = streamEndpoint(
  {
    ...feedbackQuery(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ['application/json'],
  ({ body, budget }) => {
    const { plan, counts, records } = queryFeedback(settings.feedback, body, budget);
    return {
      text: jsonList('result', records),
      logged: () => ({ plan: feedbackPlanSummary(plan), rows: counts.sent, scanned: counts.scanned }),
    };
  },
);
