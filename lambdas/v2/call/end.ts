import { callEndV2 } from '../../../api/requests.ts';
import { reportCalls } from '../../../core/records/calls/index.ts';
import { jsonEndpoint } from '../../http/endpoint.ts';
import { settings } from '../../http/settings.ts';

/** `POST /v2/{entity}/{project}/call/end`: as `/call/end`, with the project in the path. */
export const handler = jsonEndpoint(
  {
    ...callEndV2(settings.names),
    projects: ({ end }) => [{ projectId: end.projectId, loc: ['end', 'project_id'] }],
  },
  async ({ body: { end }, caller, budget }) => {
    await reportCalls(settings.calls, [{ kind: 'end', end }], caller.user, budget);
    return {};
  },
);
