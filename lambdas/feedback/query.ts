import { feedbackQuery } from '../../api/requests.ts';
import { feedbackPlanSummary, queryFeedback } from '../../core/feedback/index.ts';
import { jsonList } from '../http/json-list.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/** `POST /feedback/query`: the feedback of a project that matches, streamed as it is found. */
export const handler = streamJsonEndpoint(
  {
    ...feedbackQuery(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ({ body, budget }) => {
    const { plan, counts, records } = queryFeedback(settings.feedback, body, budget);
    return {
      json: jsonList('result', records),
      offset: body.offset,
      logged: () => ({ plan: feedbackPlanSummary(plan), rows: counts.sent, scanned: counts.scanned }),
    };
  },
);
