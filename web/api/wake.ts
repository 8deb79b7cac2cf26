import type { Request } from './contract.ts';

/**
 * Requests that have a function start, and let it find nothing to do. They ask for no rows, for
 * sums over no calls, or for a call that is not there.
 */
const idle = {
  '/calls/stream_query': (project_id: string) => ({ project_id, limit: 0 }),
  '/threads/stream_query': (project_id: string) => ({ project_id, limit: 0 }),
  '/calls/usage': (project_id: string) => ({ project_id, call_ids: [] }),
  '/calls/stats': (project_id: string) => ({
    project_id,
    start: '2020-01-01T00:00:00Z',
    end: '2020-01-02T00:00:00Z',
    filter: { call_ids: [] },
  }),
  '/call/read': (project_id: string) => ({ project_id, id: 'none: only to wake the function' }),
} as const;

/** The operations whose functions can be woken. */
export type Wakeable = keyof typeof idle;

/** The body of the request that wakes a function. */
export const wakingBody = (path: Wakeable, project: string): Request<Wakeable> => idle[path](project);

/** Lambda keeps a function that was used for about this long at least, in ms. */
const awakeMs = 4 * 60_000;

const lastUse = new Map<string, number>();

/** Notes that an operation's function is used, and so awake for a while. */
export const noteUse = (operation: string, now = Date.now()): void => {
  lastUse.set(operation, now);
};

/** Whether an operation's function was used of late from this page. */
export const isAwake = (operation: string, now = Date.now()): boolean =>
  now - (lastUse.get(operation) ?? Number.NEGATIVE_INFINITY) < awakeMs;
