import { feedbackBatchCreate } from '../../../../api/feedback.ts';
import { createFeedback } from '../../../../core/records/feedback/index.ts';
import { endpoint } from '../../../common/http/endpoint.ts';
import { stores } from '../../../common/http/stores.ts';

/**
 * `POST /feedback/batch/create`: stores feedback records. The batch is checked whole before
 * anything is written. There is one answer for each record, in order. The answers hold the payloads
 * and can be larger than a buffered answer, so they are streamed.
 */
export const handler = endpoint(
  feedbackBatchCreate,
  async ({ body: { batch }, caller, addsOnly, budget, describe }) => {
    describe(() => ({ rows: batch.length }));
    const creations = batch.map((draft, i) => ({ draft, loc: ['batch', String(i)] }));
    return { res: await createFeedback(stores.feedback, creations, caller.user, budget, { addsOnly }) };
  },
);
