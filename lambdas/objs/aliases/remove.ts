import { aliasesRemove } from '../../../api/requests.ts';
import { removeAliases } from '../../../core/records/objects/index.ts';
import { jsonEndpoint } from '../../http/endpoint.ts';
import { settings } from '../../http/settings.ts';

/** `POST /objs/{object_id}/aliases/remove`: takes aliases from an object. */
export const handler = jsonEndpoint(
  {
    ...aliasesRemove(),
    projects: ({ project_id: projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  async ({ body, budget }) => {
    const { project_id: projectId, object_id: objectId } = body;
    await removeAliases(settings.objects, { projectId, objectId }, body.aliases, budget);
    return {};
  },
);
