import type { ProjectId, WireNames } from '../wire/index.ts';
import type { Search } from './source.ts';

/** The ref of a call. */
export const callRef = (names: WireNames, projectId: ProjectId, callId: string): string =>
  `${names.refScheme}${projectId}/call/${callId}`;

/** The search for everything on one ref, oldest first. */
export const onRef = (ref: string): Search => ({
  source: { kind: 'refs', values: [ref] },
  bounds: {},
  descending: false,
  order: 'free',
  enough: null,
  limit: null,
});
