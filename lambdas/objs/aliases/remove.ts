import { removeAliases } from '../../../core/records/objects/index.ts';
import { aliasesRemove } from '../../../weave/api/labels.ts';
import { endpoint } from '../../http/endpoint.ts';
import { settings } from '../../http/settings.ts';

/** `POST /objs/{object_id}/aliases/remove`: takes aliases from an object. */
export const handler = endpoint(aliasesRemove, async ({ body: { aliases, ...name }, budget }) => {
  await removeAliases(settings.objects, name, aliases, budget);
  return {};
});
