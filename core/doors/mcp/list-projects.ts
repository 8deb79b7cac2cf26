import { listProjects as description } from '../../../api/tools.ts';
import { allows } from '../../../foundations/auth/index.ts';
import { mapConcurrent } from '../../../foundations/storage/index.ts';
import { queryProjects } from '../../records/projects.ts';
import { compact, newestFirst, readCalls } from './calls.ts';
import { runs } from './context.ts';
import { parseCursor, toCursor } from './range.ts';
import { fitted } from './reply.ts';

/** How many projects are asked for their last call at once. */
const concurrency = 8;

export const listProjects = runs(description, async ({ limit, cursor, maxCharacters }, context) => {
  const { caller, stores, budget } = context;
  const offset = cursor === null ? 0 : parseCursor(cursor).offset;
  const found = await queryProjects(stores.bookkeeping, caller.grants, { offset, limit: limit + 1 }, budget);
  const rows = await mapConcurrent(found.slice(0, limit), concurrency, async (project) => {
    const { project_id: projectId, first_reported_at } = project;
    const [last] = await readCalls(context, { projectId, sort: newestFirst, limit: 1, columns: [] });
    return compact({
      project_id: projectId,
      first_reported_at,
      last_activity: last?.started_at,
      may_write: allows(caller.grants, projectId, 'write'),
    });
  });
  return fitted(maxCharacters, rows.length, (count) => ({
    projects: rows.slice(0, count),
    ...(found.length > count && {
      missing: ['more projects: list_projects with the cursor'],
      next_cursor: toCursor({ start: null, end: null, offset: offset + count }),
    }),
  }));
});
