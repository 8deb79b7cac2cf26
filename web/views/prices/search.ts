/** The state of the view of prices, as the URL has it. */
export interface PricesSearch {
  readonly project: string;
  /** Only models whose name has this text. */
  readonly model?: string;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

/** Reads the state from a URL. What is not understood is dropped. */
export const parsePricesSearch = (search: Record<string, unknown>): PricesSearch => {
  const model = textOf(search.model);
  return { project: textOf(search.project) ?? '', ...(model && { model }) };
};
