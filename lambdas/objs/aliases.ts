import { aliasesSet } from '../../api/requests.ts';
import { addLabels, parseVersionName } from '../../core/records/objects/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `PUT /objs/{object_id}/aliases`: makes a version known under aliases. */
export const handler = jsonEndpoint(
  {
    ...aliasesSet(),
    projects: ({ project_id: projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  async ({ body, budget }) => {
    const { project_id: projectId, object_id: objectId } = body;
    const version = parseVersionName(body.digest);
    await addLabels(settings.objects, 'aliases', { projectId, objectId, version }, body.aliases, budget);
    return {};
  },
);
