import { aliasesList } from '../api/requests.ts';
import { labelsIn } from '../core/records/objects/index.ts';
import { settings } from './http/settings.ts';
import { streamJsonEndpoint } from './http/stream-json.ts';

/** `GET /aliases`: the aliases of a project's objects, each once. */
export const handler = streamJsonEndpoint(
  {
    ...aliasesList(),
    projects: ({ project_id: projectId }) => [{ projectId, loc: ['project_id'], within: 'query' }],
  },
  ({ body: { project_id: projectId }, budget }) => ({
    json: async () =>
      JSON.stringify({ aliases: await labelsIn(settings.objects, projectId, 'aliases', budget) }),
  }),
);
