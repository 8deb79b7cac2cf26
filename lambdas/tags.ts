import { labelsIn } from '../core/records/objects/index.ts';
import { tagsList } from '../weave/api/labels.ts';
import { endpoint } from './http/endpoint.ts';
import { settings } from './http/settings.ts';

/** `GET /tags`: the tags of a project's objects, each once. */
export const handler = endpoint(tagsList, async ({ body: { projectId }, budget }) => ({
  tags: await labelsIn(settings.objects, projectId, 'tags', budget),
}));
