import { callEnd } from '../../api/requests.ts';
import { reportCalls } from '../../core/records/calls/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /call/end`: stores the end of one call, even before its start. */
export const handler = jsonEndpoint(
  {
    ...callEnd(settings.names),
    projects: ({ end }) => [{ projectId: end.projectId, loc: ['end', 'project_id'] }],
  },
  async ({ body: { end }, caller, budget }) => {
    await reportCalls(settings.calls, [{ kind: 'end', end }], caller.user, budget);
    return {};
  },
);
