import type { Role, Scheme } from '../core/auth/index.ts';

export type { Role, Scheme } from '../core/auth/index.ts';

/**
 * The one list of endpoints. The REST API, the authorizers, the IAM permissions, the bundles, the local service
 * and the tests are all made from it: an endpoint that is not here does not exist.
 */

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

/** One endpoint: always POST, always JSON. */
export interface Route {
  /** The path below the base URL, in API Gateway's resource syntax. */
  readonly path: `/${string}`;
  /** The handler's module below `lambdas/`, without its extension; it mirrors the path. */
  readonly handler: string;
  /** The HTTP authentication scheme that the route takes, and no other. */
  readonly scheme: Scheme;
  /** The role that the key's grants must give on every project that a request names. */
  readonly role: Role;
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

export const routes: readonly Route[] = [
  {
    path: '/call/start',
    handler: 'call/start',
    scheme: 'basic',
    role: 'write',
    streaming: false,
    timeoutSeconds: 20,
    memoryMb: 512,
    stores: { calls: 'write', payloads: 'write' },
  },
  {
    path: '/call/end',
    handler: 'call/end',
    scheme: 'basic',
    role: 'write',
    streaming: false,
    timeoutSeconds: 20,
    memoryMb: 512,
    stores: { calls: 'write', payloads: 'write' },
  },
  {
    path: '/call/upsert_batch',
    handler: 'call/upsert_batch',
    scheme: 'basic',
    role: 'write',
    streaming: true,
    timeoutSeconds: 28,
    memoryMb: 1024,
    stores: { calls: 'write', payloads: 'write' },
  },
  {
    path: '/call/read',
    handler: 'call/read',
    scheme: 'basic',
    role: 'read',
    streaming: true,
    timeoutSeconds: 25,
    memoryMb: 512,
    stores: { calls: 'read', payloads: 'read', costs: 'read', feedback: 'read' },
  },
  {
    path: '/calls/stream_query',
    handler: 'calls/stream_query',
    scheme: 'basic',
    role: 'read',
    streaming: true,
    timeoutSeconds: 900,
    memoryMb: 1024,
    stores: { calls: 'read', payloads: 'read', objects: 'read', costs: 'read', feedback: 'read' },
  },
  {
    path: '/calls/query_stats',
    handler: 'calls/query_stats',
    scheme: 'basic',
    role: 'read',
    streaming: true,
    timeoutSeconds: 900,
    memoryMb: 1024,
    stores: { calls: 'read', payloads: 'read' },
  },
  {
    path: '/obj/create',
    handler: 'obj/create',
    scheme: 'basic',
    role: 'write',
    streaming: false,
    timeoutSeconds: 20,
    memoryMb: 512,
    stores: { objects: 'write' },
  },
  {
    path: '/obj/read',
    handler: 'obj/read',
    scheme: 'basic',
    role: 'read',
    streaming: true,
    timeoutSeconds: 25,
    memoryMb: 512,
    stores: { objects: 'read' },
  },
  {
    path: '/obj/delete',
    handler: 'obj/delete',
    scheme: 'basic',
    role: 'write',
    streaming: false,
    timeoutSeconds: 25,
    memoryMb: 512,
    stores: { objects: 'write' },
  },
  {
    path: '/objs/query',
    handler: 'objs/query',
    scheme: 'basic',
    role: 'read',
    streaming: true,
    timeoutSeconds: 900,
    memoryMb: 1024,
    stores: { objects: 'read' },
  },
  {
    path: '/refs/read_batch',
    handler: 'refs/read_batch',
    scheme: 'basic',
    role: 'read',
    streaming: true,
    timeoutSeconds: 900,
    memoryMb: 1024,
    stores: { objects: 'read' },
  },
  {
    path: '/cost/create',
    handler: 'cost/create',
    scheme: 'basic',
    role: 'write',
    streaming: false,
    timeoutSeconds: 20,
    memoryMb: 512,
    stores: { costs: 'write' },
  },
  {
    path: '/cost/query',
    handler: 'cost/query',
    scheme: 'basic',
    role: 'read',
    streaming: true,
    timeoutSeconds: 25,
    memoryMb: 512,
    stores: { costs: 'read' },
  },
  {
    path: '/cost/purge',
    handler: 'cost/purge',
    scheme: 'basic',
    role: 'write',
    streaming: false,
    timeoutSeconds: 20,
    memoryMb: 512,
    stores: { costs: 'write' },
  },
  {
    path: '/inference/v1/{path+}',
    handler: 'inference/v1',
    scheme: 'bearer',
    role: 'inference',
    streaming: true,
    timeoutSeconds: 900,
    memoryMb: 1024,
    stores: { calls: 'write', payloads: 'write' },
    upstreams: true,
  },
  {
    path: '/call/update',
    handler: 'call/update',
    scheme: 'basic',
    role: 'write',
    streaming: false,
    timeoutSeconds: 20,
    memoryMb: 512,
    stores: { calls: 'update' },
  },
  {
    path: '/calls/delete',
    handler: 'calls/delete',
    scheme: 'basic',
    role: 'write',
    streaming: true,
    timeoutSeconds: 300,
    memoryMb: 1024,
    stores: { calls: 'delete', payloads: 'delete' },
  },
  {
    path: '/threads/stream_query',
    handler: 'threads/stream_query',
    scheme: 'basic',
    role: 'read',
    streaming: true,
    timeoutSeconds: 900,
    memoryMb: 1024,
    stores: { calls: 'read' },
  },
  {
    path: '/feedback/create',
    handler: 'feedback/create',
    scheme: 'basic',
    role: 'write',
    streaming: false,
    timeoutSeconds: 20,
    memoryMb: 512,
    stores: { feedback: 'create' },
  },
  {
    path: '/feedback/batch/create',
    handler: 'feedback/batch/create',
    scheme: 'basic',
    role: 'write',
    streaming: true,
    timeoutSeconds: 28,
    memoryMb: 1024,
    stores: { feedback: 'create' },
  },
  {
    path: '/feedback/replace',
    handler: 'feedback/replace',
    scheme: 'basic',
    role: 'write',
    streaming: false,
    timeoutSeconds: 20,
    memoryMb: 512,
    stores: { feedback: 'replace' },
  },
  {
    path: '/feedback/query',
    handler: 'feedback/query',
    scheme: 'basic',
    role: 'read',
    streaming: true,
    timeoutSeconds: 900,
    memoryMb: 1024,
    stores: { feedback: 'read' },
  },
  {
    path: '/feedback/purge',
    handler: 'feedback/purge',
    scheme: 'basic',
    role: 'write',
    streaming: false,
    timeoutSeconds: 25,
    memoryMb: 512,
    stores: { feedback: 'purge' },
  },
];
