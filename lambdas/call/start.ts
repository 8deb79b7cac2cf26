import { writeCalls } from '../../core/calls/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';
import { callStart } from '../requests.ts';

/** `POST /call/start`: stores the start of one call and answers its ids. */
export const handler = jsonEndpoint(
  {
    ...callStart(settings.names),
    projects: ({ start }) => [{ projectId: start.projectId, loc: ['start', 'project_id'] }],
  },
  async ({ body: { start }, caller, effort }) => {
    const [answer] = await writeCalls(settings.calls, [{ kind: 'start', start }], caller.user, effort);
    return { id: answer?.id, trace_id: answer?.traceId };
  },
);
