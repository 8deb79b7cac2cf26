import { callJson, callReadBody, readCall } from '../../core/calls/index.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

/** `POST /call/read`: one call by its id, strongly consistent; streamed, since a call can be larger than a buffered answer. */
export const handler = streamEndpoint(
  {
    path: '/call/read',
    body: callReadBody,
    projects: (body) => [{ projectId: body.project_id, loc: ['project_id'] }],
  },
  ['application/json'],
  ({ body, effort }) => ({
    text: (async function* () {
      const call = await readCall(settings.calls, body.project_id, body.id, effort);
      yield `{"call":${call ? callJson(settings.names, call) : 'null'}}`;
    })(),
    logged: () => ({}),
  }),
);
