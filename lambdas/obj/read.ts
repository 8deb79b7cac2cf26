import { objRead } from '../../api/requests.ts';
import { objectJson, readObject } from '../../core/objects/index.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

/**
 * `POST /obj/read`: one version of an object, strongly consistent. It is streamed, since a value
 * can be larger than a buffered answer.
 */
export const handler = streamEndpoint(
  {
    ...objRead(),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ['application/json'],
  ({ body, budget }) => ({
    text: (async function* () {
      const version = await readObject(settings.objects, body, budget);
      yield `{"obj":${objectJson(settings.names, version, version.val)}}`;
    })(),
    logged: () => ({ rows: 1 }),
  }),
);
