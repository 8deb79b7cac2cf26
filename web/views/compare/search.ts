/** The state of a comparison, as the URL has it. */
export interface CompareSearch {
  readonly project: string;
  /** The ids of two calls; roots stand for their traces. @default - to be chosen */
  readonly left?: string;
  readonly right?: string;
}

const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;

/** Reads the state from a URL. What is not understood is dropped. */
export const parseCompareSearch = (search: Record<string, unknown>): CompareSearch => {
  const [left, right] = [textOf(search.left), textOf(search.right)];
  return {
    project: textOf(search.project) ?? '',
    ...(left !== undefined && { left }),
    ...(right !== undefined && { right }),
  };
};
