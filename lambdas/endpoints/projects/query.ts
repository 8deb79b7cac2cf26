import { projectsQuery } from '../../../api/projects.ts';
import { queryDropped, queryProjects } from '../../../core/records/projects.ts';
import { allowsAnywhere } from '../../../foundations/auth/index.ts';
import { forbidden } from '../../../foundations/wire/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /projects/query`: the projects that have ever been written to and that the key may read. No
 * project stands in the body: the key's grants choose them.
 */
export const handler = endpoint(projectsQuery, async ({ body, caller: { grants }, budget, describe }) => {
  if (!allowsAnywhere(grants, 'read'))
    throw forbidden(['header', 'authorization'], 'this key may not read any project');
  const projects = await queryProjects(stores.bookkeeping, grants, body, budget);
  const dropped = body.includeDropped ? await queryDropped(stores.bookkeeping, grants, budget) : undefined;
  describe(() => ({ rows: projects.length }));
  return { projects, ...(dropped && { dropped }) };
});
