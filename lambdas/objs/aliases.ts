import { addLabels } from '../../core/records/objects/index.ts';
import { parseVersionName } from '../../foundations/wire/index.ts';
import { aliasesSet } from '../../weave/api/labels.ts';
import { endpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

/** `PUT /objs/{object_id}/aliases`: makes a version known under aliases. */
export const handler = endpoint(aliasesSet, async ({ body, budget }) => {
  const { projectId, objectId, digest, aliases } = body;
  const address = { projectId, objectId, version: parseVersionName(digest) };
  await addLabels(settings.objects, 'aliases', address, aliases, budget);
  return {};
});
