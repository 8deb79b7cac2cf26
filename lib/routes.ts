import type { Role, Scheme } from '../core/auth/index.ts';

export type { Role, Scheme } from '../core/auth/index.ts';

/**
 * The one list of endpoints. The REST API, the authorizers, the IAM permissions, the bundles, the local service
 * and the tests are all made from it: an endpoint that is not here does not exist.
 */

/** What a function does with a store. Writing calls includes looking up the starts that it depends on. */
export type Access = 'read' | 'write';

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
  /** The tables and buckets that the function touches, and how. */
  readonly stores: { readonly calls?: Access; readonly payloads?: Access };
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
    stores: { calls: 'read', payloads: 'read' },
  },
  {
    path: '/calls/stream_query',
    handler: 'calls/stream_query',
    scheme: 'basic',
    role: 'read',
    streaming: true,
    timeoutSeconds: 900,
    memoryMb: 1024,
    stores: { calls: 'read', payloads: 'read' },
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
    path: '/threads/stream_query',
    handler: 'threads/stream_query',
    scheme: 'basic',
    role: 'read',
    streaming: true,
    timeoutSeconds: 900,
    memoryMb: 1024,
    stores: { calls: 'read' },
  },
];
