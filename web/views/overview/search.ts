import { textOf, timeOf } from '../../data/search-values.ts';
import { isRange, type Range } from '../traces/search.ts';

/** What the figures are told apart by. */
export const dimensions = ['op', 'model', 'user'] as const;

export type Dimension = (typeof dimensions)[number];

/** The columns of the breakdown that it can be sorted by. */
export const orders = ['calls', 'errors', 'p50', 'p95', 'tokens', 'cost'] as const;

export type Order = (typeof orders)[number];

/** The state of the overview, as the URL has it. */
export interface OverviewSearch {
  readonly project: string;
  /** The last hour, day, …. @default - 24h, unless there are bounds */
  readonly range?: Range;
  /** The first moment, inclusive, and the last, exclusive: ISO 8601. */
  readonly from?: string;
  readonly to?: string;
  /** @default - op */
  readonly by?: Dimension;
  /** Whether the charts have a line for each of the largest groups. @default - false */
  readonly split?: boolean;
  /** @default - calls */
  readonly sort?: Order;
}

/** Reads the state from a URL. What is not understood is dropped. */
export const parseOverviewSearch = (search: Record<string, unknown>): OverviewSearch => {
  const by = dimensions.find((name) => name === search.by);
  const sort = orders.find((name) => name === search.sort);
  const [from, to] = [timeOf(search.from), timeOf(search.to)];
  return {
    project: textOf(search.project) ?? '',
    ...(isRange(search.range) && { range: search.range }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(by && { by }),
    ...(search.split === true && { split: true }),
    ...(sort && { sort }),
  };
};
