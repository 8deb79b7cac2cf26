import type { ModelCost } from '../../../api/queries.ts';
import { readTokens, type Tokens } from '../../../api/shared/usage.ts';
import { shortDigest } from '../../../foundations/encoding/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import {
  formatTime,
  isJsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
} from '../../../foundations/wire/index.ts';
import {
  defaultPricesSource,
  loadDefaultPrices,
  type PriceBook,
  type PriceInForce,
  priceBook,
} from './price-book.ts';
import { readPrices } from './store.ts';

/** What a call cost, by model. Models without a price have no entry. */
export type Costs = Readonly<Record<string, ModelCost>>;

/** What a model cost in all, in the unit of its price. */
export const sumCost = (cost: ModelCost): number =>
  cost.prompt_tokens_total_cost + cost.completion_tokens_total_cost;

/** What a call cost in all. */
export const totalCost = (costs: Costs): number =>
  Object.values(costs).reduce((sum, cost) => sum + sumCost(cost), 0);

/**
 * How many models of one call are priced: the first ones. No call uses so many, but clients choose
 * the names and finding a name takes time.
 */
const maxModels = 1000;

const timeText = (time: Micros | null): string | null => (time === null ? null : formatTime(time));

/**
 * Costs are products of doubles and not rounded. Without cached tokens, a total is count × price,
 * to the last bit.
 */
const modelCost = (tokens: Tokens, price: PriceInForce): ModelCost => ({
  prompt_tokens: tokens.prompt,
  completion_tokens: tokens.completion,
  requests: tokens.requests,
  total_tokens: tokens.total,
  prompt_token_cost: price.promptTokenCost,
  completion_token_cost: price.completionTokenCost,
  prompt_tokens_total_cost:
    (tokens.prompt - tokens.cacheRead - tokens.cacheWrite) * price.promptTokenCost +
    tokens.cacheRead * price.cacheReadTokenCost +
    tokens.cacheWrite * price.cacheWriteTokenCost,
  completion_tokens_total_cost: tokens.completion * price.completionTokenCost,
  ...(tokens.cacheRead > 0 && {
    cache_read_tokens_total_cost: tokens.cacheRead * price.cacheReadTokenCost,
  }),
  ...(tokens.cacheWrite > 0 && {
    cache_creation_tokens_total_cost: tokens.cacheWrite * price.cacheWriteTokenCost,
  }),
  ...(tokens.reasoning > 0 && {
    reasoning_tokens_total_cost: tokens.reasoning * price.completionTokenCost,
  }),
  prompt_token_cost_unit: price.promptTokenCostUnit,
  completion_token_cost_unit: price.completionTokenCostUnit,
  effective_date: timeText(price.effectiveDate),
  provider_id: price.providerId,
  pricing_level: price.level,
  pricing_level_id: price.levelId,
  created_at: timeText(price.createdAt),
  created_by: price.createdBy,
});

/**
 * Computes what a call cost: for each model in its usage, tokens × the price in force when the call
 * started.
 *
 * @param usage the call's `summary.usage`, whatever a client has put there; anything but an object
 * costs nothing
 * @param startedAt microseconds since 1970
 * @returns an entry for each model that has a price, in the order of the usage
 */
export const computeCosts = (usage: JsonValue, startedAt: Micros, getPrice: PriceBook): Costs => {
  if (!isJsonObject(usage)) return {};
  const entries = Object.entries(usage)
    .slice(0, maxModels)
    .flatMap(([model, used]) => {
      if (!isJsonObject(used)) return [];
      const tokens = readTokens(used);
      const price = getPrice(model, startedAt, tokens.prompt / Math.max(1, tokens.requests));
      return price ? [[model, modelCost(tokens, price)] as const] : [];
    });
  // Not by assignment: a model may be called __proto__.
  return Object.fromEntries(entries);
};

/** Works out the costs of calls by the prices of a project. */
interface CostsOfProject {
  (usage: JsonValue, startedAt: Micros): Costs;
  /** The same for the same prices, its own and the default ones, and for no others. */
  readonly version: string;
}

/** Reads the prices of a project, and gives what works out the costs of its calls by them. */
export const readCosts = async (
  store: Pick<Store, 'table'>,
  projectId: ProjectId,
  budget: RequestBudget,
): Promise<CostsOfProject> => {
  const [own, defaults] = await Promise.all([readPrices(store, projectId, budget), loadDefaultPrices()]);
  const book = priceBook(projectId, own, defaults);
  const version = shortDigest(JSON.stringify([defaultPricesSource, own])).toString('hex');
  const compute = (usage: JsonValue, startedAt: Micros) => computeCosts(usage, startedAt, book);
  return Object.assign(compute, { version });
};
