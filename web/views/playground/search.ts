import { textOf } from '../../data/search-values.ts';

/** The state of the playground, as the URL has it. What is typed stays in the page. */
export interface PlaygroundSearch {
  readonly project: string;
  /** The recorded call to begin with. @default - an empty conversation */
  readonly call?: string;
}

/** Reads the state from a URL. What is not understood is dropped. */
export const parsePlaygroundSearch = (search: Record<string, unknown>): PlaygroundSearch => {
  const call = textOf(search.call);
  return { project: textOf(search.project) ?? '', ...(call !== undefined && { call }) };
};
