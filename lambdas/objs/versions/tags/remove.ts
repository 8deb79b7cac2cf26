import { removeTags } from '../../../../core/records/objects/index.ts';
import { parseVersionName } from '../../../../foundations/wire/index.ts';
import { tagsRemove } from '../../../../weave/api/labels.ts';
import { endpoint } from '../../../http/endpoint.ts';
import { settings } from '../../../http/settings.ts';

/** `POST /objs/{object_id}/versions/{digest}/tags/remove`: takes tags from a version. */
export const handler = endpoint(tagsRemove, async ({ body, budget }) => {
  const { projectId, objectId, digest, tags } = body;
  const address = { projectId, objectId, version: parseVersionName(digest) };
  await removeTags(settings.objects, address, tags, budget);
  return {};
});
