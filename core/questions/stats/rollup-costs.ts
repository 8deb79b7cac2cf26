import type { PriceInForce, SteadyPrices } from '../../records/costs/index.ts';
import type { ModelCell } from './cell.ts';
import type { Group } from './group.ts';
import type { Numbers } from './numbers.ts';
import type { Span } from './span.ts';

const set = (numbers: Numbers, count: number, sum: number): void => {
  Object.assign(numbers, { count, sum });
};

/** Sums of costs are those of tokens × the price, as long as it is the same for all calls. */
const addPrice = (cell: ModelCell, price: PriceInForce): void => {
  const { sum: prompt, count } = cell.input_tokens;
  const [read, written] = [cell.cache_read_input_tokens.sum, cell.cache_creation_input_tokens.sum];
  const input =
    (prompt - read - written) * price.promptTokenCost +
    read * price.cacheReadTokenCost +
    written * price.cacheWriteTokenCost;
  const output = cell.output_tokens.sum * price.completionTokenCost;
  set(cell.input_cost, count, input);
  set(cell.output_cost, count, output);
  set(cell.total_cost, count, input + output);
};

/**
 * Works out what the calls of rollups cost: sums and counts, without extremes.
 *
 * @returns false if the price of a model was not the same throughout; the calls have to be scanned
 */
export const addCosts = (groups: readonly Group[], prices: SteadyPrices, [from, to]: Span): boolean =>
  groups.every(({ cell }) =>
    [...cell.models].every(([model, each]) => {
      const price = prices(model, from, to, each.input_tokens.max);
      if (price) addPrice(each, price);
      return price !== undefined;
    }),
  );
