import { callStart } from '../../api/requests.ts';
import { writeCalls } from '../../core/records/calls/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /call/start`: stores the start of one call and answers its ids. */
export const handler = jsonEndpoint(
  {
    ...callStart(settings.names),
    projects: ({ start }) => [{ projectId: start.projectId, loc: ['start', 'project_id'] }],
  },
  async ({ body: { start }, caller, budget }) => {
    const [answer] = await writeCalls(settings.calls, [{ kind: 'start', start }], caller.user, budget);
    return { id: answer?.id, trace_id: answer?.traceId };
  },
);
