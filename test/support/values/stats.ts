import { getBodySchema } from '../../../api/endpoint.ts';
import { callsStats } from '../../../api/stats.ts';
import { noLookups } from '../../../core/questions/query/index.ts';
import { computeStats, type StatsAnswer, type StatsLookups } from '../../../core/questions/stats/index.ts';
import {
  computeCosts,
  type Price,
  priceBook,
  type SteadyPrices,
  steadyPrices,
} from '../../../core/records/costs/index.ts';
import { type RequestBudget, requestBudget, type Store } from '../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../foundations/wire/index.ts';
import { parseBody } from '../../../foundations/wire/schema.ts';
import { createStores, getStore } from '../service/stores.ts';

/** A store of calls with their rollups, for one test file. */
export const createStatsStore = async (changes: Partial<Store> = {}): Promise<Store> => {
  const stores = await createStores();
  const bookkeeping = { client: stores.dynamodb, name: stores.rollupsTable };
  return { ...getStore(stores, stores.callsTable), bookkeeping, ...changes };
};

const body = getBodySchema(callsStats);

/** Prices of a project as statistics look them up; no default ones. */
export const makeLookups = (projectId: ProjectId, prices: readonly Price[] = []): StatsLookups => ({
  ...noLookups,
  costs: async () => {
    const book = priceBook(projectId, prices, () => undefined);
    return (usage: JsonObject, startedAt: number) =>
      computeCosts(usage, startedAt, book) as unknown as JsonObject;
  },
  steadyPrices: (): Promise<SteadyPrices> => steadyPrices(projectId, prices),
});

/** How statistics are asked for. */
export interface AskOptions {
  readonly prices?: readonly Price[];
  /** What the clock says, in milliseconds. @default - so late that all marks are over */
  readonly now?: () => number;
  readonly spent?: RequestBudget;
}

/** Later than the marks of requests that are over. */
export const later = (): number => Date.now() + 600_000;

/** Answers a body of `/calls/stats`, through its schema, and says how many calls were scanned. */
export const askStats = async (
  store: Store,
  asked: { readonly project_id: string; readonly [field: string]: unknown },
  { prices = [], now = later, spent = requestBudget(60_000) }: AskOptions = {},
): Promise<StatsAnswer & { readonly scanned: number; readonly rollups: number; readonly source: string }> => {
  const request = parseBody(body, JSON.stringify(asked));
  const { plan, counts, answer } = computeStats(
    store,
    request,
    spent,
    makeLookups(request.projectId, prices),
    now,
  );
  const answered = await answer();
  return { ...answered, scanned: counts.scanned, rollups: counts.rollups, source: plan.source };
};
