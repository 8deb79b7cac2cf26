import type { ModelCost } from '../../../api/queries.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import {
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  plainNumber,
} from '../../../foundations/wire/index.ts';
import { loadDefaultPrices, type PriceBook, type PriceInForce, priceBook } from './price-book.ts';
import { readPrices } from './store.ts';

/** The tokens that a call used of one model. */
export interface Tokens {
  /** All tokens of the prompts, those read from and written to the provider's cache included. */
  readonly prompt: number;
  /** Those of the prompt that were read from the cache. */
  readonly cacheRead: number;
  /** Those of the prompt that were written to the cache; none of them was read from it. */
  readonly cacheWrite: number;
  readonly completion: number;
  readonly total: number;
  readonly requests: number;
}

/** A count as a client reports it; undefined for anything but a number from 0 to 2^53 − 1. */
const countOf = (record: JsonObject, name: string): number | undefined => {
  const value = Object.hasOwn(record, name) ? plainNumber(record[name]) : undefined;
  // JSON can read -0, but not write it.
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
    ? Math.abs(value)
    : undefined;
};

/** The first count among details of the prompt, by either naming. */
const cachedTokens = (usage: JsonObject): number | undefined => {
  for (const name of ['prompt_tokens_details', 'input_tokens_details']) {
    const details = Object.hasOwn(usage, name) ? usage[name] : undefined;
    const cached = isJsonObject(details ?? null)
      ? countOf(details as JsonObject, 'cached_tokens')
      : undefined;
    if (cached !== undefined) return cached;
  }
  return undefined;
};

/**
 * The tokens of the prompt. Cached tokens that are details of the prompt, or are counted beside
 * `prompt_tokens`, are part of it. Anthropic says `input_tokens` and counts them apart.
 */
const promptTokens = (usage: JsonObject): Pick<Tokens, 'prompt' | 'cacheRead' | 'cacheWrite'> => {
  const named = countOf(usage, 'prompt_tokens') ?? 0;
  const base = Math.max(named, countOf(usage, 'input_tokens') ?? 0);
  const detail = cachedTokens(usage);
  const read = detail ?? countOf(usage, 'cache_read_input_tokens') ?? 0;
  const written = countOf(usage, 'cache_creation_input_tokens') ?? 0;
  const prompt = named === 0 && detail === undefined ? base + read + written : base;
  const cacheRead = Math.min(read, prompt);
  return { prompt, cacheRead, cacheWrite: Math.min(written, prompt - cacheRead) };
};

/**
 * Reads one model's entry of `summary.usage`, by OpenAI's names or Anthropic's. What is no count
 * (text, negative, missing, beyond 2^53 − 1) is 0. Of two names for the same, the larger counts.
 *
 * @returns `total` and `requests` as the usage has them, else prompt and completion together, and 1
 */
export const tokensOf = (usage: JsonObject): Tokens => {
  const prompt = promptTokens(usage);
  const completion = Math.max(countOf(usage, 'completion_tokens') ?? 0, countOf(usage, 'output_tokens') ?? 0);
  return {
    ...prompt,
    completion,
    total: countOf(usage, 'total_tokens') ?? prompt.prompt + completion,
    requests: countOf(usage, 'requests') ?? 1,
  };
};

/** What a call cost, by model. Models without a price have no entry. */
export type Costs = Readonly<Record<string, ModelCost>>;

/** What a model cost in all, in the unit of its price. */
export const costOf = (cost: ModelCost): number =>
  cost.prompt_tokens_total_cost + cost.completion_tokens_total_cost;

/** What a call cost in all. */
export const totalCost = (costs: Costs): number =>
  Object.values(costs).reduce((sum, cost) => sum + costOf(cost), 0);

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
export const costsOf = (usage: JsonValue, startedAt: Micros, priceOf: PriceBook): Costs => {
  if (!isJsonObject(usage)) return {};
  const entries = Object.entries(usage)
    .slice(0, maxModels)
    .flatMap(([model, used]) => {
      if (!isJsonObject(used)) return [];
      const tokens = tokensOf(used);
      const price = priceOf(model, startedAt, tokens.prompt / Math.max(1, tokens.requests));
      return price ? [[model, modelCost(tokens, price)] as const] : [];
    });
  // Not by assignment: a model may be called __proto__.
  return Object.fromEntries(entries);
};

/** Reads the prices of a project, and gives what works out the costs of its calls by them. */
export const readCosts = async (
  store: Pick<Store, 'table'>,
  projectId: ProjectId,
  budget: RequestBudget,
): Promise<(usage: JsonValue, startedAt: Micros) => Costs> => {
  const [own, defaults] = await Promise.all([readPrices(store, projectId, budget), loadDefaultPrices()]);
  const book = priceBook(projectId, own, defaults);
  return (usage, startedAt) => costsOf(usage, startedAt, book);
};
