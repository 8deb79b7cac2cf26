import { textOf } from '../../data/search-values.ts';

/** The state of the view of prices, as the URL has it. */
export interface PricesSearch {
  readonly project: string;
  /** Only models whose name has this text. */
  readonly model?: string;
}

/** Reads the state from a URL. What is not understood is dropped. */
export const parsePricesSearch = (search: Record<string, unknown>): PricesSearch => {
  const model = textOf(search.model);
  return { project: textOf(search.project) ?? '', ...(model && { model }) };
};
