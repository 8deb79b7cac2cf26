import { feedbackQuery } from '../../api/requests.ts';
import { countFeedback, feedbackPlanSummary, queryFeedback } from '../../core/records/feedback/index.ts';
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
      json: jsonList('result', records, undefined, async () => {
        if (settings.names.dialect === 'svc') return '';
        return `,"total_count":${await countFeedback(settings.feedback, body, counts.sent, budget)}`;
      }),
      offset: body.offset,
      logged: () => ({ plan: feedbackPlanSummary(plan), rows: counts.sent, scanned: counts.scanned }),
    };
  },
);
