import type { Route } from '../../../api/endpoint.ts';
import type { RoutePath } from '../../../api/routes.ts';
import type { WeavePath } from '../../../weave/api/routes.ts';

const writeCalls = [
  'calls: BatchGetItem BatchWriteItem PartiQLInsert PutItem',
  'bucket/segments/*: PutObject',
  'rollups: UpdateItem',
] as const;
const queryCalls = [
  'calls: BatchGetItem Query',
  'calls/index/by_time: Query',
  'calls/index/by_trace: Query',
  'calls/index/by_thread: Query',
  'calls/index/by_error: Query',
  'bucket/segments/*: GetObject',
  'bucket: ListBucket',
] as const;
const joinFeedback = [
  'feedback: BatchGetItem',
  'feedback/index/by_ref: Query',
  'bucket/feedback/*: GetObject',
] as const;
const readObjects = ['objects: BatchGetItem', 'bucket/objects/*: GetObject', 'bucket: ListBucket'] as const;
const createFeedback = [
  'feedback: BatchGetItem PartiQLInsert PutItem',
  'bucket/feedback/*: PutObject DeleteObject',
  'rollups: UpdateItem',
] as const;

/**
 * What the function of each route may do to the stores, and the authorizer. These are actions on a
 * table, one of its indexes, the bucket, or its objects below a prefix. Written out by hand, and
 * not made of lib/permissions.ts: whoever gives a function more says so here, too.
 */
export const permitted: Readonly<Record<Route['path'] | 'authorizer', readonly string[]>> = {
  authorizer: ['keys: GetItem'],
  '/call/start': writeCalls,
  '/call/end': writeCalls,
  '/call/upsert_batch': writeCalls,
  '/otel/v1/traces': writeCalls,
  '/call/read': [
    'calls: BatchGetItem Query',
    'calls/index/by_trace: Query',
    'costs: Query',
    ...joinFeedback,
    'bucket/segments/*: GetObject',
    'bucket: ListBucket',
  ],
  '/calls/stream_query': [...queryCalls, 'costs: Query', ...joinFeedback, ...readObjects],
  '/calls/query_stats': queryCalls,
  '/calls/stats': [...queryCalls, 'costs: Query', 'rollups: BatchWriteItem Query'],
  '/calls/usage': [
    'calls: BatchGetItem Query',
    'calls/index/by_trace: Query',
    'costs: Query',
    'bucket/segments/*: GetObject',
    'bucket: ListBucket',
  ],
  '/call/update': ['calls: BatchGetItem PutItem'],
  '/calls/delete': [
    'calls: BatchGetItem BatchWriteItem PutItem DeleteItem Query',
    'calls/index/by_trace: Query',
    'feedback: BatchGetItem DeleteItem PutItem',
    'feedback/index/by_ref: Query',
    'bucket/segments/*: GetObject PutObject DeleteObject',
    'bucket/feedback/*: DeleteObject',
    'bucket: ListBucket',
    'rollups: UpdateItem',
  ],
  '/threads/stream_query': ['calls: BatchGetItem', 'calls/index/by_thread: Query'],
  '/obj/create': [
    'objects: BatchGetItem BatchWriteItem DeleteItem PutItem Query',
    'bucket/objects/*: PutObject DeleteObject',
    'rollups: UpdateItem',
  ],
  '/obj/read': readObjects,
  '/obj/delete': [
    'objects: BatchGetItem BatchWriteItem DeleteItem PutItem Query',
    'bucket/objects/*: DeleteObject',
  ],
  '/objs/query': [...readObjects, 'objects: Query'],
  '/refs/read_batch': readObjects,
  '/cost/create': ['costs: PartiQLInsert'],
  '/cost/query': ['costs: Query'],
  '/cost/purge': ['costs: BatchWriteItem'],
  '/feedback/create': createFeedback,
  '/feedback/batch/create': createFeedback,
  '/feedback/replace': [
    'feedback: BatchGetItem ConditionCheckItem PutItem',
    'bucket/feedback/*: PutObject DeleteObject',
  ],
  '/feedback/query': [
    ...joinFeedback,
    'feedback/index/by_time: Query',
    'feedback/index/by_type: Query',
    'bucket: ListBucket',
  ],
  '/feedback/purge': ['feedback: BatchGetItem DeleteItem PutItem', 'bucket/feedback/*: DeleteObject'],
  '/inference/v1/{path+}': ['calls: BatchWriteItem', 'bucket/segments/*: PutObject', 'rollups: UpdateItem'],
  '/projects/query': ['rollups: Query'],
};

/** A path of Weave's dialect alone whose function touches a store. */
type StoringWeavePath = Exclude<WeavePath, '/server_info' | '/graphql'>;

const readTables = [
  'objects: BatchGetItem Query',
  'bucket/tables/*: GetObject',
  'bucket: ListBucket',
] as const;
const labelObjects = ['objects: BatchGetItem BatchWriteItem'] as const;

/**
 * What it is in Weave's dialect: besides, of routes that are of all dialects, and in all, of those
 * that this one alone has.
 */
export const permittedInWeave: Partial<Readonly<Record<RoutePath, readonly string[]>>> &
  Readonly<Record<StoringWeavePath, readonly string[]>> = {
  '/calls/stream_query': readTables,
  '/calls/query_stats': [
    ...joinFeedback,
    'objects: BatchGetItem',
    'bucket/objects/*: GetObject',
    ...readTables,
  ],
  '/calls/stats': joinFeedback,
  '/obj/read': ['objects: Query'],
  '/refs/read_batch': readTables,
  '/file/create': [
    'objects: BatchGetItem BatchWriteItem',
    'bucket/files/*: PutObject',
    'rollups: UpdateItem',
  ],
  '/file/content': ['objects: BatchGetItem', 'bucket/files/*: GetObject', 'bucket: ListBucket'],
  '/table/create': ['objects: BatchWriteItem Query', 'bucket/tables/*: PutObject', 'rollups: UpdateItem'],
  '/table/create_from_digests': ['objects: BatchWriteItem Query', 'bucket/tables/*: PutObject'],
  '/table/update': [...readTables, 'objects: BatchWriteItem', 'bucket/tables/*: PutObject'],
  '/table/query': readTables,
  '/table/query_stats': ['objects: BatchGetItem'],
  '/table/query_stats_batch': ['objects: BatchGetItem'],
  '/objs/{object_id}/aliases': labelObjects,
  '/objs/{object_id}/aliases/remove': ['objects: BatchWriteItem'],
  '/objs/{object_id}/versions/{digest}/tags': labelObjects,
  '/objs/{object_id}/versions/{digest}/tags/remove': labelObjects,
  '/aliases': ['objects: Query'],
  '/tags': ['objects: Query'],
  '/v2/{entity}/{project}/calls/complete': writeCalls,
  '/v2/{entity}/{project}/call/start': writeCalls,
  '/v2/{entity}/{project}/call/end': writeCalls,
  '/trace/usage': [...queryCalls, 'costs: Query', ...joinFeedback],
};

/** The permissions of a table as single ones: an action and what it is on. */
export const single = (lines: readonly string[]): string[] =>
  [
    ...new Set(
      lines.flatMap((line) => {
        const [resource = '', actions = ''] = line.split(': ');
        return actions.split(' ').map((action) => `${action} on ${resource}`);
      }),
    ),
  ].sort();
