import { nanosDown, readSpent } from '../../../core/records/spending.ts';
import { type Caller, includesRole } from '../../../foundations/auth/index.ts';
import { mapConcurrent, type RequestBudget } from '../../../foundations/storage/index.ts';
import { formatTime, parseProjectId } from '../../../foundations/wire/index.ts';
import { keyLimits, projectLimits } from './limits.ts';
import { stores } from './stores.ts';

/** Projects whose limits are read at once. */
const atOnce = 10;

/**
 * What is left of the limits of a caller's key, and of the projects that its grants name for reading or for
 * inference. Whoever may only report learns nothing of a project.
 *
 * @throws ServiceError 503 when storage does not give it in time
 */
export const limitsLeft = async (caller: Caller, budget: RequestBudget) => {
  const telling = caller.grants.filter(
    ({ role }) => includesRole(role, 'read') || includesRole(role, 'inference'),
  );
  const named = telling.flatMap(({ scope }) => parseProjectId(scope) ?? []);
  const ofProjects = await mapConcurrent([...new Set(named)], atOnce, (project) =>
    projectLimits(project, budget),
  );
  const held = [...keyLimits(caller), ...ofProjects.flat()];
  const all = await readSpent(stores.bookkeeping, held, Date.now(), budget);
  const limits = all.map(({ limit: { of, name, period, usd }, spent, resetsAt }) => ({
    of: of === 'project' ? of : ('key' as const),
    project_id: of === 'project' ? name : null,
    period,
    limit_usd: usd,
    spent_usd: spent / 1e9,
    left_usd: Math.max(0, nanosDown(usd) - spent) / 1e9,
    resets_at: formatTime(resetsAt * 1000),
  }));
  return { limits };
};
