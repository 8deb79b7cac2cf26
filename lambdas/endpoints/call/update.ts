import { callUpdate } from '../../../api/calls.ts';
import { updateCall } from '../../../core/records/calls/index.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { settings } from '../../shared/http/settings.ts';

/** `POST /call/update`: changes the display name of a call. */
export const handler = endpoint(callUpdate, async ({ body, budget }) => {
  const { projectId, callId, displayName } = body;
  await updateCall(settings.calls, projectId, callId, { displayName }, budget);
  return {};
});
