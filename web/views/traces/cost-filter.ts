import type { Cost } from '../../api/calls.ts';
import type { RowFigures } from './row-figures.ts';
import { type Condition, costPath, type TracesSearch } from './search.ts';

/*
 * The filter by cost. Costs follow from prices when calls are read, and no query can add them up.
 * So the page reads the rows that pass all other filters, looks up what each cost, and leaves out
 * the rest.
 */

/** Whether a row belongs to the list, by what it cost. */
export type CostTest = (figures: RowFigures | undefined) => boolean;

const passes = ({ op, value }: Condition, cost: Cost | undefined): boolean => {
  if (op === 'exists') return cost !== undefined;
  if (op === 'is missing') return cost === undefined;
  if (cost === undefined) return false;
  const amounts = [...cost.values()];
  const limit = Number(value);
  return op === 'above'
    ? amounts.some((amount) => amount > limit)
    : amounts.every((amount) => amount < limit);
};

/** The test of a list that is filtered by cost; undefined for any other. */
export const costTestOf = ({ where = [] }: Pick<TracesSearch, 'where'>): CostTest | undefined => {
  const conditions = where.filter(({ path }) => path === costPath);
  if (conditions.length === 0) return undefined;
  return (figures) => conditions.every((condition) => passes(condition, figures?.usage?.cost));
};
