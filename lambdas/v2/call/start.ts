import { startCall } from '../../../core/records/calls/index.ts';
import { callStartV2 } from '../../../weave/api/calls.ts';
import { endpoint } from '../../http/endpoint.ts';
import { settings } from '../../http/settings.ts';

/** `POST /v2/{entity}/{project}/call/start`: as `/call/start`, with the project in the path. */
export const handler = endpoint(callStartV2, async ({ body: { start }, caller, budget }) => {
  const { id, traceId } = await startCall(settings.calls, start, caller.user, budget);
  return { id, trace_id: traceId };
});
