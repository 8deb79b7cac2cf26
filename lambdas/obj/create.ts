import { objCreate } from '../../api/objects.ts';
import { createObject } from '../../core/records/objects/index.ts';
import { endpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/**
 * `POST /obj/create`: makes a version of an object, unless one has this value already. It answers
 * the digest.
 */
export const handler = endpoint(objCreate, async ({ body: { obj }, caller, budget }) => ({
  digest: await createObject(settings.objects, obj, caller.user, budget),
  object_id: obj.objectId,
}));
