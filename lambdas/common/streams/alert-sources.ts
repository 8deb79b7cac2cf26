import { noLookups } from '../../../core/questions/query/index.ts';
import { readCosts, readPrices, steadyPrices } from '../../../core/records/costs/index.ts';
import type { Sources } from '../../../core/workers/alerts/measure.ts';
import { settings } from '../http/settings.ts';

/** Where what alerts measure is, by the environment. */
export const alertSources: Sources = {
  calls: settings.calls,
  feedback: settings.feedback,
  lookups: {
    ...noLookups,
    costs: (projectId, budget) => readCosts(settings.costs, projectId, budget),
    steadyPrices: async (projectId, budget) =>
      steadyPrices(projectId, await readPrices(settings.costs, projectId, budget)),
  },
};
