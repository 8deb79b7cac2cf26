import { feedbackBatchCreate } from '../../../api/requests.ts';
import { createdJson, createFeedback } from '../../../core/feedback/index.ts';
import { settings } from '../../http/settings.ts';
import { streamEndpoint } from '../../http/stream.ts';

/**
 * `POST /feedback/batch/create`: stores feedback records, checked whole before any is written; one
 * answer for each, in order. They are streamed, since they hold the payloads and more, and can be
 * larger than a buffered answer may be.
 */
export const handler = streamEndpoint(
  {
    ...feedbackBatchCreate(settings.names),
    projects: ({ batch }) =>
      batch.map(({ projectId }, i) => ({ projectId, loc: ['batch', String(i), 'project_id'] })),
  },
  ['application/json'],
  ({ body: { batch }, caller, budget }) => ({
    text: (async function* () {
      const creations = batch.map((draft, i) => ({ draft, loc: ['batch', String(i)] }));
      const answers = await createFeedback(settings.feedback, creations, caller.user, budget);
      yield JSON.stringify({ res: answers.map((answer) => createdJson(settings.names, answer)) });
    })(),
    logged: () => ({ rows: batch.length }),
  }),
);
