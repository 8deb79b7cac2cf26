import { labelsIn } from '../core/records/objects/index.ts';
import { aliasesList } from '../weave/api/labels.ts';
import { endpoint } from './http/endpoint.ts';
import { settings } from './http/settings.ts';

/** `GET /aliases`: the aliases of a project's objects, each once. */
export const handler = endpoint(aliasesList, async ({ body: { projectId }, budget }) => ({
  aliases: await labelsIn(settings.objects, projectId, 'aliases', budget),
}));
