import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../../foundations/wire/index.ts';
import { loadDefaultPrices, type PriceBook, type PriceInForce, priceBook } from './price-book.ts';
import { readPrices } from './store.ts';

/**
 * Finds the price by which limits count, in dollars.
 *
 * @param names of the model: what the answer calls it, what the upstream was asked for, what the client
 * asked for
 * @returns undefined if none of them has a price in dollars
 */
export type LimitPrices = (
  names: readonly string[],
  startedAt: Micros,
  promptTokens: number,
) => PriceInForce | undefined;

const isInDollars = (price: PriceInForce): boolean =>
  price.promptTokenCostUnit === 'USD' && price.completionTokenCostUnit === 'USD';

const larger = (price: PriceInForce, other: PriceInForce): PriceInForce => ({
  ...price,
  promptTokenCost: Math.max(price.promptTokenCost, other.promptTokenCost),
  cacheReadTokenCost: Math.max(price.cacheReadTokenCost, other.cacheReadTokenCost),
  cacheWriteTokenCost: Math.max(price.cacheWriteTokenCost, other.cacheWriteTokenCost),
  completionTokenCost: Math.max(price.completionTokenCost, other.completionTokenCost),
});

/**
 * The prices by which limits count. Whoever may write sets a project's prices, and not its limits. So
 * the larger counts of the project's price and the first default price that any of the names has.
 *
 * @param own the project's prices alone
 */
export const limitPrices =
  (own: PriceBook, defaults: PriceBook): LimitPrices =>
  (names, startedAt, promptTokens) => {
    let found: PriceInForce | undefined;
    for (const name of names) {
      const price = own(name, startedAt, promptTokens);
      if (price && isInDollars(price)) found ??= price;
      const listed = defaults(name, startedAt, promptTokens);
      if (listed) return found ? larger(found, listed) : listed;
    }
    return found;
  };

/** Reads the prices by which a project's limits count; the default ones for no project. */
export const readLimitPrices = async (
  store: Pick<Store, 'table'>,
  projectId: ProjectId | undefined,
  budget: RequestBudget,
): Promise<LimitPrices> => {
  const none = () => undefined;
  const defaults = await loadDefaultPrices();
  if (projectId === undefined) return limitPrices(none, defaults);
  return limitPrices(priceBook(projectId, await readPrices(store, projectId, budget), none), defaults);
};
