import type { Operation, Route, Stores } from '../../api/endpoint.ts';
import { routes } from '../../api/routes.ts';
import { nameInWeave, textInWeave } from '../names.ts';
import type { Dialect } from '../policy.ts';
import { callEndV2, callStartV2, callsComplete, traceUsage } from './calls.ts';
import { answerSchemaInWeave, bodyInWeave } from './changes.ts';
import {
  fileContent,
  fileCreate,
  tableCreate,
  tableCreateFromDigests,
  tableQuery,
  tableQueryStats,
  tableQueryStatsBatch,
  tableUpdate,
} from './data.ts';
import { aliasesList, aliasesRemove, aliasesSet, tagsAdd, tagsList, tagsRemove } from './labels.ts';
import { graphql, serverInfo } from './service.ts';

const list = [
  serverInfo,
  graphql,
  traceUsage,
  callsComplete,
  callStartV2,
  callEndV2,
  fileCreate,
  fileContent,
  tableCreate,
  tableCreateFromDigests,
  tableUpdate,
  tableQuery,
  tableQueryStats,
  tableQueryStatsBatch,
  aliasesSet,
  aliasesRemove,
  tagsAdd,
  tagsRemove,
  aliasesList,
  tagsList,
] as const;

/** The path of an endpoint that Weave's dialect alone has. */
export type WeavePath = (typeof list)[number]['path'];

/** The endpoints that Weave's dialect has beside all others. */
export const weaveRoutes: readonly Route[] = list;

/** Stores that functions touch besides in Weave's dialect. */
const furtherStores: Readonly<Record<string, Stores>> = {
  '/calls/stream_query': { tables: 'read' },
  '/calls/query_stats': { feedback: 'join', objects: 'read', tables: 'read' },
  '/calls/stats': { feedback: 'join' },
  '/obj/read': { objects: 'query' },
  '/refs/read_batch': { tables: 'read' },
};

/** An example in Weave's dialect. */
const valueInWeave = (value: unknown): unknown => {
  if (typeof value === 'string') return value === 'svc' ? 'weave' : textInWeave(value);
  if (Array.isArray(value)) return value.map(valueInWeave);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [nameInWeave(name), valueInWeave(of)]));
};

const operationInWeave = (operation: Operation): Operation => ({
  ...operation,
  examples: Object.fromEntries(
    Object.entries(operation.examples).map(([name, { summary, body, answer }]) => [
      name,
      { summary, body: valueInWeave(body), answer: valueInWeave(answer) },
    ]),
  ),
});

/** One of our routes in Weave's dialect. */
const inWeave = (route: Route): Route => {
  const { path, request, answer } = route;
  return {
    ...route,
    ...('role' in route && { stores: { ...route.stores, ...furtherStores[path] } }),
    ...(request && { request: () => bodyInWeave(path, request()) }),
    answer: () => answerSchemaInWeave(answer()),
    ...(path === '/obj/create' && { errors: [409] }),
    operations: route.operations.map(operationInWeave),
  } as Route;
};

/** The endpoints that a dialect has: those of all dialects, and its own. */
export const routesOf = (dialect: Dialect): readonly Route[] =>
  dialect === 'svc' ? routes : [...routes.map(inWeave), ...weaveRoutes];

/** The endpoints of every dialect. */
export const allRoutes: readonly Route[] = [...routes, ...weaveRoutes];
