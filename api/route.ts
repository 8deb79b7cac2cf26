import type { AcceptedScheme, Role, Scheme } from '../core/foundations/auth/index.ts';
import type { Dialect } from '../core/foundations/wire/names.ts';

/**
 * What a function does with calls:
 *
 * - `find` looks for calls by their ids, and for all in their traces;
 * - `query` looks for many in every way, `threads` for the turns of threads;
 * - `write` writes starts and ends, and looks up the starts that they depend on;
 * - `record` writes whole calls with new ids, each a start with its end;
 * - `update` replaces calls one by one;
 * - `delete` finds what belongs together, deletes it, and rewrites what others share with it.
 */
export type CallsAccess = 'find' | 'query' | 'threads' | 'write' | 'record' | 'update' | 'delete';

/** What a function does with the calls' part of the bucket. */
export type PayloadsAccess = 'read' | 'write' | 'delete';

/**
 * What a function does with objects, in their table and in their part of the bucket. `read` is by
 * name. `label` sets and takes tags and aliases of versions, `unlabel` takes those of objects,
 * `labels` lists them.
 */
export type ObjectsAccess = 'read' | 'query' | 'create' | 'delete' | 'label' | 'unlabel' | 'labels';

/** What a function does with files, in the objects table and in their part of the bucket. */
export type FilesAccess = 'create' | 'read';

/**
 * What a function does with tables, in the objects table and in their part of the bucket. `create`
 * reads no rows, `update` reads those of another table, `count` the tables alone.
 */
export type TablesAccess = 'create' | 'update' | 'read' | 'count';

/** What a function does with prices. */
export type CostsAccess = 'read' | 'create' | 'purge';

/**
 * What a function does with feedback, in its table and in its part of the bucket. `join` reads what
 * is on given refs, `erase` deletes it.
 */
export type FeedbackAccess = 'join' | 'erase' | 'query' | 'create' | 'replace' | 'purge';

/**
 * What a function does with the rollups table:
 *
 * - `note` notes the projects that are written to, and the rollups that a write makes stale;
 * - `list` lists the noted projects;
 * - `use` reads rollups and their marks, and stores rollups.
 */
export type RollupsAccess = 'note' | 'list' | 'use';

/** The stores that a function uses, and how. */
export interface Stores {
  readonly calls?: CallsAccess;
  readonly payloads?: PayloadsAccess;
  readonly objects?: ObjectsAccess;
  readonly files?: FilesAccess;
  readonly tables?: TablesAccess;
  readonly costs?: CostsAccess;
  readonly feedback?: FeedbackAccess;
  readonly rollups?: RollupsAccess;
}

/** The settings that say how long functions may take, in seconds. */
export type TimeoutSetting = 'queryTimeoutSeconds' | 'inferenceTimeoutSeconds';

/** How a function answers, and what it is given. All shapes are in `shapes.ts`. */
export interface FunctionShape {
  /**
   * Whether the answer leaves through Lambda response streaming, as every answer that can pass 6 MB
   * does.
   */
  readonly streaming: boolean;
  /**
   * The function's time-out, in seconds. API Gateway waits 29 s for a buffered answer and 15 min
   * for a stream.
   */
  readonly timeoutSeconds: number;
  /** The setting that replaces `timeoutSeconds`, which is its default. @default - none does */
  readonly timeoutSetting?: TimeoutSetting;
  /** The function's memory, in MB. CPU grows with it. */
  readonly memoryMb: number;
}

/** What every endpoint has. */
interface AnyRoute extends FunctionShape {
  /** The path below the base URL, in API Gateway's resource syntax. */
  readonly path: `/${string}`;
  readonly method: 'GET' | 'POST' | 'PUT';
  /**
   * The handler's module below `lambdas/`, without its extension. It mirrors the path, without the
   * parameters of it.
   */
  readonly handler: string;
  /** The stores that the function touches, and how. */
  readonly stores: Stores;
  /** Stores that it touches besides in Weave's dialect. @default - none */
  readonly weaveStores?: Stores;
  /** Whether the function sends requests on to the upstreams of the settings. */
  readonly upstreams?: boolean;
  /** The dialect that has it. @default - all of them */
  readonly dialect?: Dialect;
}

/** An endpoint that takes a key. Body, query and path say what for. */
export interface KeyedRoute extends AnyRoute {
  /** The HTTP authentication scheme that the route takes, or `any` that the service knows. */
  readonly scheme: AcceptedScheme;
  /** The role that the key's grants must give on each project of a request. */
  readonly role: Role;
}

/**
 * An endpoint about the key of the request itself, which any valid key may ask, and which touches
 * no store.
 */
export interface KeyRoute extends AnyRoute {
  readonly method: 'GET' | 'POST';
  readonly scheme: Scheme;
  readonly role?: never;
  readonly stores: Readonly<Record<string, never>>;
  readonly upstreams?: never;
}

/** An endpoint for everybody, without credentials: a GET that touches no store. */
export interface OpenRoute extends AnyRoute {
  readonly method: 'GET';
  readonly scheme: 'none';
  readonly stores: Readonly<Record<string, never>>;
  readonly upstreams?: never;
  /** Whether it answers HEAD too, as monitors ask. A method takes two resources of the stack. */
  readonly head?: true;
  /** Whether it serves the page, which is for browsers and no part of the documented API. */
  readonly page?: boolean;
}

/** An endpoint: for keys with a role, for any key, or for everybody. */
export type Route = KeyedRoute | KeyRoute | OpenRoute;

/** Whether a route takes a key, and says what for. */
export const isKeyed = (route: Route): route is KeyedRoute => 'role' in route;

/** Whether a route takes a key. */
export const takesKey = (route: Route): route is KeyedRoute | KeyRoute => route.scheme !== 'none';

/** The methods of a route. */
export const methodsOf = (route: Route): readonly string[] =>
  !takesKey(route) && route.head ? [route.method, 'HEAD'] : [route.method];

/** Whether a route serves the page, and is no part of the documented API. */
export const isPage = (route: Route): boolean => 'page' in route && route.page === true;
