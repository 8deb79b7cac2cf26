import { feedbackBatchCreate } from '../../../api/requests.ts';
import { createdJson, createFeedback } from '../../../core/records/feedback/index.ts';
import { settings } from '../../http/settings.ts';
import { streamJsonEndpoint } from '../../http/stream-json.ts';

/**
 * `POST /feedback/batch/create`: stores feedback records. The batch is checked whole before
 * anything is written. There is one answer for each record, in order. The answers hold the payloads
 * and can be larger than a buffered answer, so they are streamed.
 */
export const handler = streamJsonEndpoint(
  {
    ...feedbackBatchCreate(settings.names),
    projects: ({ batch }) =>
      batch.map(({ projectId }, i) => ({ projectId, loc: ['batch', String(i), 'project_id'] })),
  },
  ({ body: { batch }, caller, budget }) => ({
    json: async () => {
      const creations = batch.map((draft, i) => ({ draft, loc: ['batch', String(i)] }));
      const answers = await createFeedback(settings.feedback, creations, caller.user, budget);
      return JSON.stringify({ res: answers.map((answer) => createdJson(settings.names, answer)) });
    },
    logged: () => ({ rows: batch.length }),
  }),
);
