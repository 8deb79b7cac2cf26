/** The state of a conversation, as the URL has it. */
export interface ThreadSearch {
  readonly project: string;
  readonly thread: string;
  /** Whether texts stand as they came, without Markdown. @default - false */
  readonly plain?: boolean;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Reads the state from a URL. What is not understood is dropped. */
export const parseThreadSearch = (search: Record<string, unknown>): ThreadSearch => ({
  project: textOf(search.project),
  thread: textOf(search.thread),
  ...(search.plain === true && { plain: true }),
});
