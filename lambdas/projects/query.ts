import { projectsQuery } from '../../api/requests.ts';
import { forbidden } from '../../core/foundations/wire/index.ts';
import { queryProjects, readsAnything } from '../../core/records/projects.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /projects/query`: the projects that have ever been written to and that the key may read. No
 * project stands in the body: the key's grants choose them.
 */
export const handler = streamJsonEndpoint(
  { ...projectsQuery(), projects: () => [] },
  ({ body, caller: { grants }, budget }) => {
    let rows = 0;
    return {
      json: async () => {
        if (!readsAnything(grants))
          throw forbidden(['header', 'authorization'], 'this key may not read any project');
        const projects = await queryProjects(settings.rollups, grants, body, budget);
        rows = projects.length;
        return JSON.stringify({ projects });
      },
      logged: () => ({ rows }),
    };
  },
);
