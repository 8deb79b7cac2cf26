import { addLabels } from '../../../core/records/objects/index.ts';
import { parseVersionName } from '../../../foundations/wire/index.ts';
import { tagsAdd } from '../../../weave/api/labels.ts';
import { endpoint } from '../../http/endpoint.ts';
import { settings } from '../../http/settings.ts';

/** `PUT /objs/{object_id}/versions/{digest}/tags`: puts tags on a version. */
export const handler = endpoint(tagsAdd, async ({ body, budget }) => {
  const { projectId, objectId, digest, tags } = body;
  const address = { projectId, objectId, version: parseVersionName(digest) };
  await addLabels(settings.objects, 'tags', address, tags, budget);
  return {};
});
