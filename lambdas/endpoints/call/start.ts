import { callStart } from '../../../api/calls.ts';
import { startCall } from '../../../core/records/calls/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /call/start`: stores the start of one call and answers its ids. */
export const handler = endpoint(callStart, async ({ body: { start }, caller, addsOnly, budget }) => {
  const { id, traceId } = await startCall(stores.calls, start, caller.user, budget, addsOnly);
  return { id, trace_id: traceId };
});
