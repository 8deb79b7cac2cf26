import { tagsAdd } from '../../../api/requests.ts';
import { addLabels, parseVersionName } from '../../../core/records/objects/index.ts';
import { jsonEndpoint } from '../../http/endpoint.ts';
import { settings } from '../../http/settings.ts';

/** `PUT /objs/{object_id}/versions/{digest}/tags`: puts tags on a version. */
export const handler = jsonEndpoint(
  {
    ...tagsAdd(),
    projects: ({ project_id: projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  async ({ body, budget }) => {
    const { project_id: projectId, object_id: objectId } = body;
    const version = parseVersionName(body.digest);
    await addLabels(settings.objects, 'tags', { projectId, objectId, version }, body.tags, budget);
    return {};
  },
);
