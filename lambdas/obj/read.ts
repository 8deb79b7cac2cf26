import { objRead } from '../../api/requests.ts';
import { objectJson, readLabels, readObject } from '../../core/records/objects/index.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /obj/read`: one version of an object, strongly consistent. It is streamed, since a value
 * can be larger than a buffered answer.
 */
export const handler = streamJsonEndpoint(
  {
    ...objRead(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ({ body, budget }) => ({
    json: async () => {
      const version = await readObject(settings.objects, body, budget, body.metadataOnly);
      const labelsOf =
        body.withLabels && (await readLabels(settings.objects, body.projectId, [body.objectId], budget));
      const labels = labelsOf ? labelsOf(version.header) : undefined;
      return `{"obj":${objectJson(settings.names, version, version.val, labels)}}`;
    },
  }),
);
