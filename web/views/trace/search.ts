import { textOf } from '../../data/search-values.ts';

/** The tabs beside the tree. */
export const tabs = ['messages', 'data', 'usage', 'feedback', 'error'] as const;

export type Tab = (typeof tabs)[number];

/** The state of the view of a trace, as the URL has it. */
export interface TraceSearch {
  readonly project: string;
  readonly trace: string;
  /** The selected call. @default - the first root */
  readonly call?: string;
  /** @default - messages if there are any, else data */
  readonly tab?: Tab;
  /** Whether messages stand as they came, without Markdown. @default false */
  readonly plain?: boolean;
  /** Whether the tree shows what each call took itself, without those below it. @default false */
  readonly own?: boolean;
}

/** Reads the state from a URL. What is not understood is dropped. */
export const parseTraceSearch = (search: Record<string, unknown>): TraceSearch => {
  const call = textOf(search.call);
  const tab = tabs.find((name) => name === search.tab);
  return {
    project: textOf(search.project) ?? '',
    trace: textOf(search.trace) ?? '',
    ...(call !== undefined && { call }),
    ...(tab && { tab }),
    ...(search.plain === true && { plain: true }),
    ...(search.own === true && { own: true }),
  };
};
