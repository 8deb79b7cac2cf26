import { objDelete } from '../../api/requests.ts';
import { deleteVersions, digestsOf } from '../../core/records/objects/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/**
 * `POST /obj/delete`: deletes some or all versions of an object, and answers how many there were.
 */
export const handler = jsonEndpoint(
  {
    ...objDelete(settings.names),
    projects: (body) => [{ projectId: body.project_id, loc: ['project_id'] }],
    rows: (_, answer: { readonly num_deleted: number }) => answer.num_deleted,
  },
  async ({ body: { project_id: projectId, object_id: objectId, digests }, budget }) => {
    const name = { projectId, objectId };
    const named = digests ? await digestsOf(settings.objects, name, digests, budget) : null;
    return { num_deleted: await deleteVersions(settings.objects, name, named, budget, digests ?? []) };
  },
);
