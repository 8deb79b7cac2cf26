import { callsDelete } from '../../api/requests.ts';
import { deleteCalls } from '../../core/records/calls/index.ts';
import { deleteFeedbackOn } from '../../core/records/feedback/index.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /calls/delete`: deletes calls with all their descendants, and the feedback on them unless
 * the deployment keeps it. Its short answer is streamed, because a buffered one may take no longer
 * than 29 seconds.
 */
export const handler = streamJsonEndpoint(
  {
    ...callsDelete(),
    projects: (body) => [{ projectId: body.project_id, loc: ['project_id'] }],
  },
  ({ body, budget }) => {
    const { calls, feedbackToErase: feedback } = settings;
    let deleted = 0;
    return {
      json: async () => {
        deleted = await deleteCalls(calls, body.project_id, body.call_ids, budget, async (ids) => {
          if (feedback) await deleteFeedbackOn(feedback, body.project_id, ids, budget);
        });
        return JSON.stringify({ num_deleted: deleted });
      },
      logged: () => ({ rows: deleted }),
    };
  },
);
