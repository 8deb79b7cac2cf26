import { callUpdate } from '../../../api/calls.ts';
import { updateCall } from '../../../core/records/calls/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /call/update`: changes the display name of a call. */
export const handler = endpoint(callUpdate, async ({ body, budget }) => {
  const { projectId, callId, displayName } = body;
  await updateCall(stores.calls, projectId, callId, { displayName }, budget);
  return {};
});
