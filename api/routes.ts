import type { Dialect } from '../core/foundations/wire/names.ts';
import { ofTheKey, ofThePage, open, reading, writing } from './kinds.ts';
import { isKeyed, type Route } from './route.ts';
import {
  batch,
  deletion,
  document,
  fewRecords,
  fixed,
  oneAnswer,
  oneRecord,
  page,
  passThrough,
  stream,
} from './shapes.ts';
import { weaveRoutes } from './weave-routes.ts';

export type { AcceptedScheme, Role } from '../core/foundations/auth/index.ts';
export * from './route.ts';

const list = [
  { ...writing('/call/start'), ...oneRecord, stores: { calls: 'write', payloads: 'write', rollups: 'note' } },
  { ...writing('/call/end'), ...oneRecord, stores: { calls: 'write', payloads: 'write', rollups: 'note' } },
  {
    ...writing('/call/upsert_batch'),
    ...batch,
    stores: { calls: 'write', payloads: 'write', rollups: 'note' },
  },
  {
    ...reading('/call/read'),
    ...oneAnswer,
    stores: { calls: 'find', payloads: 'read', costs: 'read', feedback: 'join' },
  },
  {
    ...reading('/calls/stream_query'),
    ...stream,
    stores: { calls: 'query', payloads: 'read', objects: 'read', costs: 'read', feedback: 'join' },
    weaveStores: { tables: 'read' },
  },
  {
    ...reading('/calls/query_stats'),
    ...stream,
    stores: { calls: 'query', payloads: 'read' },
    weaveStores: { feedback: 'join', objects: 'read', tables: 'read' },
  },
  {
    ...reading('/calls/stats'),
    ...stream,
    stores: { calls: 'query', payloads: 'read', costs: 'read', rollups: 'use' },
    weaveStores: { feedback: 'join' },
  },
  {
    ...reading('/calls/usage'),
    ...oneAnswer,
    stores: { calls: 'find', payloads: 'read', costs: 'read' },
  },
  { ...writing('/obj/create'), ...oneRecord, stores: { objects: 'create', rollups: 'note' } },
  {
    ...reading('/obj/read'),
    ...oneAnswer,
    stores: { objects: 'read' },
    weaveStores: { objects: 'query' },
  },
  { ...writing('/obj/delete'), ...fewRecords, stores: { objects: 'delete' } },
  { ...reading('/objs/query'), ...stream, stores: { objects: 'query' } },
  {
    ...reading('/refs/read_batch'),
    ...stream,
    stores: { objects: 'read' },
    weaveStores: { tables: 'read' },
  },
  { ...writing('/cost/create'), ...oneRecord, stores: { costs: 'create' } },
  { ...reading('/cost/query'), ...oneAnswer, stores: { costs: 'read' } },
  { ...writing('/cost/purge'), ...oneRecord, stores: { costs: 'purge' } },
  {
    path: '/inference/v1/{path+}',
    method: 'POST',
    handler: 'inference/v1',
    scheme: 'bearer',
    role: 'inference',
    ...passThrough,
    stores: { calls: 'record', payloads: 'write', rollups: 'note' },
    upstreams: true,
  },
  {
    ...writing('/otel/v1/traces'),
    scheme: 'any',
    ...batch,
    stores: { calls: 'write', payloads: 'write', rollups: 'note' },
  },
  { ...writing('/call/update'), ...oneRecord, stores: { calls: 'update' } },
  {
    ...writing('/calls/delete'),
    ...deletion,
    stores: { calls: 'delete', payloads: 'delete', feedback: 'erase', rollups: 'note' },
  },
  { ...reading('/threads/stream_query'), ...stream, stores: { calls: 'threads' } },
  { ...writing('/feedback/create'), ...oneRecord, stores: { feedback: 'create', rollups: 'note' } },
  { ...writing('/feedback/batch/create'), ...batch, stores: { feedback: 'create', rollups: 'note' } },
  { ...writing('/feedback/replace'), ...oneRecord, stores: { feedback: 'replace' } },
  { ...reading('/feedback/query'), ...stream, stores: { feedback: 'query' } },
  { ...writing('/feedback/purge'), ...fewRecords, stores: { feedback: 'purge' } },
  { ...reading('/projects/query'), ...oneAnswer, stores: { rollups: 'list' } },
  { ...ofTheKey('/me'), ...fixed },
  { ...open('/health', 'health'), ...fixed, head: true },
  { ...open('/openapi.json', 'openapi'), ...document },
  { ...ofThePage('/'), ...page },
  { ...ofThePage('/ui'), ...page },
  { ...ofThePage('/ui/{proxy+}'), ...page },
  ...weaveRoutes,
] as const satisfies readonly Route[];

/** The path of a route of the documented API, in API Gateway's resource syntax. */
export type RoutePath = Exclude<(typeof list)[number], { readonly page: true }>['path'];

/** The handlers of all routes. Routes may share one. */
export const handlersOf = (routes: readonly Route[]): string[] => [
  ...new Set(routes.map(({ handler }) => handler)),
];

/**
 * The one list of endpoints, those of every dialect. The REST API, the authorizers, the IAM
 * permissions, the bundles, the local service, the OpenAPI document and the tests are all made from
 * it.
 */
export const allRoutes: readonly Route[] = list;

/** What the function of a route touches in a dialect. */
const inDialect = (route: Route, dialect: Dialect): Route =>
  isKeyed(route) && route.weaveStores && dialect === 'weave'
    ? { ...route, stores: { ...route.stores, ...route.weaveStores } }
    : route;

/** The endpoints that a dialect has: those of all dialects, and its own. */
export const routesOf = (dialect: Dialect): readonly Route[] =>
  allRoutes
    .filter((route) => (route.dialect ?? dialect) === dialect)
    .map((route) => inDialect(route, dialect));

/** The endpoints of the service's own dialect. */
export const routes: readonly Route[] = routesOf('svc');
