import type { Micros, ProjectId } from '../../foundations/wire/index.ts';
import { loadSteadyDefaults } from './default-prices.ts';
import type { Price } from './model.ts';
import { type PriceInForce, priceBook } from './price-book.ts';

/**
 * Finds the price of a model that is in force throughout a span of time, for prompts of any length
 * up to the longest.
 *
 * @returns null if there is none at any time; undefined if it is not the same throughout
 */
export type SteadyPrices = (
  model: string,
  from: Micros,
  to: Micros,
  maxPrompt: number,
) => PriceInForce | null | undefined;

/**
 * Puts a project's own prices before the default ones, as {@link priceBook} does.
 *
 * @param prices all prices of the project, in any order
 */
export const steadyPrices = async (projectId: ProjectId, prices: readonly Price[]): Promise<SteadyPrices> => {
  const defaults = await loadSteadyDefaults();
  const own = priceBook(projectId, prices, () => undefined);
  const byModel = Map.groupBy(prices, ({ model }) => model);
  return (model, from, to, maxPrompt) => {
    const changes = byModel.get(model)?.some(({ effectiveDate: date }) => date > from && date < to);
    if (changes) return undefined;
    return own(model, from, maxPrompt) ?? defaults(model, from, to, maxPrompt);
  };
};
