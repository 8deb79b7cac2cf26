import type { Role, Scheme } from '../core/auth/index.ts';

/**
 * What a function does with calls. Writing includes looking up the starts that it depends on; updating is replacing one by one; deleting
 * includes finding what belongs together, and rewriting what is shared with others.
 */
export type Access = 'read' | 'write' | 'update' | 'delete';

/** What a function does with a store that needs no more distinctions; writing includes deleting. */
export type PlainAccess = 'read' | 'write';

/** What a function does with feedback: with its table, and with its part of the bucket. */
export type FeedbackAccess = 'read' | 'create' | 'replace' | 'purge';

/** The stores, and how they can be accessed. */
export interface Stores {
  readonly calls?: Access;
  /** The calls' part of the bucket. */
  readonly payloads?: Exclude<Access, 'update'>;
  /** A table, and its part of the bucket. */
  readonly objects?: PlainAccess;
  readonly costs?: PlainAccess;
  /** A table, and its part of the bucket. */
  readonly feedback?: FeedbackAccess;
}

/** What every endpoint has. */
interface AnyRoute {
  /** The path below the base URL, in API Gateway's resource syntax. */
  readonly path: `/${string}`;
  readonly method: 'GET' | 'POST';
  /** The handler's module below `lambdas/`, without its extension; it mirrors the path. */
  readonly handler: string;
  /** Whether the answer leaves through Lambda response streaming: every answer that can pass 6 MB does. */
  readonly streaming: boolean;
  /** The function's time-out, in seconds. API Gateway waits 29 s for a buffered answer, 15 min for a stream. */
  readonly timeoutSeconds: number;
  /** The function's memory, in MB; CPU grows with it. */
  readonly memoryMb: number;
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
