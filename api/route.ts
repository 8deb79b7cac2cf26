import type { Role, Scheme } from '../core/auth/index.ts';

/**
 * What a function does with calls. `find` is for one by its id, `query` for all ways to look for
 * many, `threads` for the turns of threads. `write` includes looking up the starts that it depends
 * on; `end` writes ends alone, `record` whole calls with ids that nobody has seen. `update` is
 * replacing one by one; `delete` includes finding what belongs together, and rewriting what is
 * shared with others.
 */
export type CallsAccess = 'find' | 'query' | 'threads' | 'write' | 'end' | 'record' | 'update' | 'delete';

/** What a function does with the calls' part of the bucket. */
export type PayloadsAccess = 'read' | 'write' | 'delete';

/**
 * What a function does with objects: with their table, and with their part of the bucket. `read` is
 * by name.
 */
export type ObjectsAccess = 'read' | 'query' | 'create' | 'delete';

/** What a function does with prices. */
export type CostsAccess = 'read' | 'create' | 'purge';

/**
 * What a function does with feedback: with its table, and with its part of the bucket. `join` is
 * reading what is on given refs.
 */
export type FeedbackAccess = 'join' | 'query' | 'create' | 'replace' | 'purge';

/** The stores, and how they can be accessed. */
export interface Stores {
  readonly calls?: CallsAccess;
  readonly payloads?: PayloadsAccess;
  readonly objects?: ObjectsAccess;
  readonly costs?: CostsAccess;
  readonly feedback?: FeedbackAccess;
}

/** How a function answers, and what it is given; `shapes.ts` has those that there are. */
export interface FunctionShape {
  /**
   * Whether the answer leaves through Lambda response streaming: every answer that can pass 6 MB
   * does.
   */
  readonly streaming: boolean;
  /**
   * The function's time-out, in seconds. API Gateway waits 29 s for a buffered answer, 15 min for a
   * stream.
   */
  readonly timeoutSeconds: number;
  /** The function's memory, in MB; CPU grows with it. */
  readonly memoryMb: number;
}

/** What every endpoint has. */
interface AnyRoute extends FunctionShape {
  /** The path below the base URL, in API Gateway's resource syntax. */
  readonly path: `/${string}`;
  readonly method: 'GET' | 'POST';
  /** The handler's module below `lambdas/`, without its extension; it mirrors the path. */
  readonly handler: string;
  /** The stores that the function touches, and how. */
  readonly stores: Stores;
  /** Whether the function sends requests on to the upstreams of the settings. */
  readonly upstreams?: boolean;
}

/** An endpoint for those who have a key: a POST with a JSON body. */
export interface KeyedRoute extends AnyRoute {
  readonly method: 'POST';
  /** The HTTP authentication scheme that the route takes, and no other. */
  readonly scheme: Scheme;
  /** The role that the key's grants must give on every project that a request names. */
  readonly role: Role;
}

/** An endpoint for everybody, without credentials: a GET that touches no store. */
export interface OpenRoute extends AnyRoute {
  readonly method: 'GET';
  readonly scheme: 'none';
  readonly stores: Readonly<Record<string, never>>;
  readonly upstreams?: never;
}

/** One endpoint. */
export type Route = KeyedRoute | OpenRoute;

/** Whether a route takes a key. */
export const isKeyed = (route: Route): route is KeyedRoute => route.scheme !== 'none';
