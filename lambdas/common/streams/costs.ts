import { type LimitPrices, readCosts, readLimitPrices } from '../../../core/records/costs/index.ts';
import type { CostsOfProject } from '../../../core/workers/streams.ts';
import { Memory } from '../../../foundations/memory.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { stores } from '../http/stores.ts';

/** How long prices are remembered, in milliseconds. */
const rememberedMs = 60_000;

const remembered = new Memory<Awaited<ReturnType<CostsOfProject>>>(rememberedMs);

/**
 * The costs of a project's calls. Its prices are read once a minute, since batches come by the
 * second.
 */
export const costsOfProject: CostsOfProject = (projectId, budget) =>
  remembered.get(projectId, () => readCosts(stores.costs, projectId, budget));

const rememberedForLimits = new Memory<LimitPrices>(rememberedMs);

/** The prices by which limits of a project count, read once a minute, too. */
export const limitPricesOfProject = (projectId: ProjectId, budget: RequestBudget): Promise<LimitPrices> =>
  rememberedForLimits.get(projectId, () => readLimitPrices(stores.costs, projectId, budget));
