import { callStartBody, writeCalls } from '../../core/calls/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `POST /call/start`: stores the start of one call and answers its ids. */
export const handler = jsonEndpoint(
  {
    path: '/call/start',
    body: callStartBody(settings.names),
    projects: ({ start }) => [{ projectId: start.projectId, loc: ['start', 'project_id'] }],
  },
  async ({ body: { start }, caller, effort }) => {
    const [answer] = await writeCalls(settings.calls, [{ kind: 'start', start }], caller.user, effort);
    return { id: answer?.id, trace_id: answer?.traceId };
  },
);
