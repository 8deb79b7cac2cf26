import { costText } from '../../data/format.ts';
import { maxPrices, usePrices } from '../prices/use-prices.ts';

const withoutUnit = (cost: number): string => costText(new Map([['', cost]]));

/**
 * How the sums of a project's costs are written. The service adds up amounts of all units, so they
 * are dollars only if all of the project's own prices are. Default prices are.
 */
export const useCostText = (project: string): ((cost: number) => string) => {
  const { data } = usePrices(project).query;
  const areDollars =
    data &&
    data.length < maxPrices &&
    data.every(
      ({ prompt_token_cost_unit: prompt = 'USD', completion_token_cost_unit: completion = 'USD' }) =>
        prompt === 'USD' && completion === 'USD',
    );
  return areDollars ? costText : withoutUnit;
};
