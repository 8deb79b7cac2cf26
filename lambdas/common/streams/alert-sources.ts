import { noLookups } from '../../../core/questions/query/index.ts';
import { readCosts, readPrices, steadyPrices } from '../../../core/records/costs/index.ts';
import type { Sources } from '../../../core/workers/alerts/measure.ts';
import { stores } from '../http/stores.ts';

/** Where what alerts measure is, by the environment. */
export const alertSources: Sources = {
  calls: stores.calls,
  feedback: stores.feedback,
  objects: stores.objects,
  lookups: {
    ...noLookups,
    costs: (projectId, budget) => readCosts(stores.costs, projectId, budget),
    steadyPrices: async (projectId, budget) =>
      steadyPrices(projectId, await readPrices(stores.costs, projectId, budget)),
  },
};
