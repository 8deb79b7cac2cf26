import { callUpsertBatch } from '../../../api/calls.ts';
import { writeCalls } from '../../../core/records/calls/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /call/upsert_batch`: stores starts and ends of calls. The batch is checked whole before
 * anything is written. There is one answer for each item, in order. The answers to many tiny starts
 * can be larger than a buffered answer, so they are streamed.
 */
export const handler = endpoint(
  callUpsertBatch,
  async ({ body: { batch }, caller, addsOnly, budget, describe }) => {
    describe(() => ({ rows: batch.length }));
    const answers = await writeCalls(stores.calls, batch, caller.user, budget, {
      addsOnly,
      getPlace: (i) => ['batch', String(i), 'req', batch[i]?.kind ?? ''],
    });
    return { res: answers.map((answer) => (answer ? { id: answer.id, trace_id: answer.traceId } : {})) };
  },
);
