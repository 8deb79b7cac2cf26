import { readCosts } from '../../core/records/costs/index.ts';
import type { CostsOfProject } from '../../core/workers/streams.ts';
import { Memory } from '../../foundations/memory.ts';
import { settings } from '../http/settings.ts';

/** How long prices are remembered, in milliseconds. */
const rememberedMs = 60_000;

const remembered = new Memory<Awaited<ReturnType<CostsOfProject>>>(rememberedMs);

/**
 * The costs of a project's calls. Its prices are read once a minute, since batches come by the
 * second.
 */
export const costsOfProject: CostsOfProject = (projectId, budget) =>
  remembered.get(projectId, () => readCosts(settings.costs, projectId, budget));
