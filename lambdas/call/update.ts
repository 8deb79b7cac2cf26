import { callUpdate } from '../../api/requests.ts';
import { updateCall } from '../../core/records/calls/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /call/update`: changes the display name of a call. */
export const handler = jsonEndpoint(
  {
    ...callUpdate(settings.names),
    projects: (body) => [{ projectId: body.project_id, loc: ['project_id'] }],
  },
  async ({ body, budget }) => {
    const changes = { displayName: body.display_name };
    await updateCall(settings.calls, body.project_id, body.call_id, changes, budget);
    return {};
  },
);
