import { objRead } from '../../../api/objects.ts';
import { objectJson, readLabels, readObject } from '../../../core/records/objects/index.ts';
import { endpoint, wholeJson } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /obj/read`: one version of an object, strongly consistent. It is streamed, since a value
 * can be larger than a buffered answer.
 */
export const handler = endpoint(objRead, async ({ body, budget, door }) => {
  const version = await readObject(stores.objects, body, budget, body.metadataOnly);
  const labelsByVersion =
    body.withLabels && (await readLabels(stores.objects, body.projectId, [body.objectId], budget));
  const labels = labelsByVersion ? labelsByVersion(version.header) : undefined;
  return wholeJson(`{"obj":${objectJson(version, version.val, labels, door.names)}}`);
});
