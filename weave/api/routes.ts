import type { Stores } from '../../api/access.ts';
import type { Operation, Route } from '../../api/endpoint.ts';
import { routes } from '../../api/routes.ts';
import { nameInWeave, textInWeave } from '../names.ts';
import type { Dialect } from '../policy.ts';
import { callEndV2, callStartV2, callsComplete, traceUsage } from './calls.ts';
import { answerSchemaInWeave, bodyInWeave } from './changes.ts';
import { completionsCreate } from './completions.ts';
import { feedbackPayloadSchema } from './feedback.ts';
import { filesContent, filesCreate } from './files.ts';
import { aliasesList, aliasesRemove, aliasesSet, tagsAdd, tagsList, tagsRemove } from './labels.ts';
import { agentsOtelTraces } from './otel.ts';
import { graphql, sdkLinks, serverInfo } from './service.ts';
import { tableCreateFromDigests, tableQueryStatsBatch } from './tables.ts';

const list = [
  serverInfo,
  graphql,
  agentsOtelTraces,
  traceUsage,
  feedbackPayloadSchema,
  completionsCreate,
  callsComplete,
  callStartV2,
  callEndV2,
  tableCreateFromDigests,
  tableQueryStatsBatch,
  aliasesSet,
  aliasesRemove,
  tagsAdd,
  tagsRemove,
  aliasesList,
  tagsList,
  filesCreate,
  filesContent,
  ...sdkLinks,
] as const;

/** An endpoint that Weave's dialect alone has. */
export type WeaveRoute = Exclude<(typeof list)[number], { readonly page: true }>;

/** Stores that functions touch besides in Weave's dialect. */
const furtherStores: Readonly<Record<string, Stores>> = {
  '/calls/query_stats': { feedback: 'joinMany', objects: 'read', tables: 'read' },
  '/calls/stats': { feedback: 'joinMany' },
  '/obj/read': { objects: 'query' },
};

/** What the digests of examples are in Weave's dialect. */
const digests: Readonly<Record<string, string>> = {
  YQU4zBRJYqRwNoxsv2iTQaxqW0mCD4X7kJLv_MHBKdw: 'XqYnrRGCRsKytwwi9duiYN26FJosYWlYCOXOX09Lcas',
  ac248a8eb679dc123755460524423571f7ec08465ae185a419ec0e208de38c4b:
    '0480bef923d3d4bb575e6e15e211f996ec80f17614ab5c5ea8a650390f8ec50a',
  d42707a806073373ed541853e5b3a78c8a60b20ac4c1cf2802c7294b96270ea1:
    '6b1fcb061739872950128dd6e63584ead4438245163c669744b927cb2a4a54a8',
  'LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ': 'LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ',
  Aq_qvTIUDe9WqRjopwcsPaFfDkKKbf_5pqt_j6G66Ec: 'fTWi8PPBIkipas64VS80ZWjZIF9kej26QqaHd1yjmVs',
  'ni_W09rpBP2-AC2SatrnVuMV-UDiu1PRIkQoFMVL06k': 'dCNeUV9ytbY26Q0UCnuGdeAQdLsX9Y2NVR29NnhNjcs',
};

/** An example in Weave's dialect. */
const valueInWeave = (value: unknown): unknown => {
  if (typeof value === 'string') return value === 'svc' ? 'weave' : (digests[value] ?? textInWeave(value));
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

/** The endpoints that Weave's dialect has beside all others. */
export const weaveRoutes: readonly Route[] = list.map((route: Route) =>
  route.tolerant ? route : inWeave(route),
);

/** The endpoints that a dialect has: those of all dialects, and its own. */
export const routesOf = (dialect: Dialect): readonly Route[] =>
  dialect === 'svc' ? routes : [...routes.map(inWeave), ...weaveRoutes];

/** The endpoints of every dialect. */
export const allRoutes: readonly Route[] = [...routes, ...weaveRoutes];
