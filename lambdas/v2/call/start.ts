import { callStartV2 } from '../../../api/requests.ts';
import { writeCalls } from '../../../core/records/calls/index.ts';
import { jsonEndpoint } from '../../http/endpoint.ts';
import { settings } from '../../http/settings.ts';

/** `POST /v2/{entity}/{project}/call/start`: as `/call/start`, with the project in the path. */
export const handler = jsonEndpoint(
  {
    ...callStartV2(settings.names),
    projects: ({ start }) => [{ projectId: start.projectId, loc: ['start', 'project_id'] }],
  },
  async ({ body: { start }, caller, budget }) => {
    const [answer] = await writeCalls(settings.calls, [{ kind: 'start', start }], caller.user, budget);
    return { id: answer?.id, trace_id: answer?.traceId };
  },
);
