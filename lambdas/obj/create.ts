import { objCreate } from '../../api/requests.ts';
import { createObject } from '../../core/records/objects/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/**
 * `POST /obj/create`: makes a version of an object, unless one has this value already. It answers
 * the digest.
 */
export const handler = jsonEndpoint(
  {
    ...objCreate(settings.names),
    projects: ({ obj }) => [{ projectId: obj.projectId, loc: ['obj', 'project_id'] }],
  },
  async ({ body: { obj }, caller, budget }) => {
    const digest = await createObject(settings.objects, obj, caller.user, budget);
    return { digest, object_id: obj.objectId };
  },
);
