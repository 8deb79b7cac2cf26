import { readCosts } from '../../core/records/costs/index.ts';
import type { CostsOfProject } from '../../core/workers/streams.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { settings } from '../http/settings.ts';

/** How long prices are remembered, in milliseconds, and of how many projects. */
const rememberedMs = 60_000;
const maxProjects = 1000;

const remembered = new Map<
  ProjectId,
  { readonly until: number; readonly costs: ReturnType<CostsOfProject> }
>();

/**
 * The costs of a project's calls. Its prices are read once a minute, since batches come by the
 * second.
 */
export const costsOfProject: CostsOfProject = (projectId, budget) => {
  const known = remembered.get(projectId);
  if (known && known.until > Date.now()) return known.costs;
  const costs = readCosts(settings.costs, projectId, budget);
  if (remembered.size >= maxProjects) remembered.clear();
  remembered.set(projectId, { until: Date.now() + rememberedMs, costs });
  costs.catch(() => remembered.delete(projectId));
  return costs;
};
