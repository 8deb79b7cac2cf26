import { tagsRemove } from '../../../../api/requests.ts';
import { parseVersionName, removeTags } from '../../../../core/records/objects/index.ts';
import { jsonEndpoint } from '../../../http/endpoint.ts';
import { settings } from '../../../http/settings.ts';

/** `POST /objs/{object_id}/versions/{digest}/tags/remove`: takes tags from a version. */
export const handler = jsonEndpoint(
  {
    ...tagsRemove(),
    projects: ({ project_id: projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  async ({ body, budget }) => {
    const { project_id: projectId, object_id: objectId } = body;
    const version = parseVersionName(body.digest);
    await removeTags(settings.objects, { projectId, objectId, version }, body.tags, budget);
    return {};
  },
);
