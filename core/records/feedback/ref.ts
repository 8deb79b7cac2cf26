import type { Search } from './source.ts';

/** The search for everything on one ref, oldest first. */
export const onRef = (ref: string): Search => ({
  source: { kind: 'refs', values: [ref] },
  bounds: {},
  descending: false,
  order: 'free',
  enough: null,
  limit: null,
});
