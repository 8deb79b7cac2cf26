import { createObject } from '../../core/objects/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';
import { objCreate } from '../requests.ts';

/** `POST /obj/create`: makes a version of an object, unless one has this value already, and answers its digest. */
export const handler = jsonEndpoint(
  {
    ...objCreate(settings.names),
    projects: ({ obj }) => [{ projectId: obj.projectId, loc: ['obj', 'project_id'] }],
  },
  async ({ body: { obj }, caller, effort }) => {
    const digest = await createObject(settings.objects, obj, caller.user, effort);
    return { digest, object_id: obj.objectId };
  },
);
