import { callEnd, callStart, callUpsertBatch } from '../../../api/calls.ts';
import type { KeyedRoute } from '../../../api/endpoint.ts';
import { fileContent, fileCreate } from '../../../api/files.ts';
import { otelTraces } from '../../../api/otel.ts';
import { completionsCreate } from '../../../core/doors/weave/endpoints/completions.ts';
import { feedbackPayloadSchema } from '../../../core/doors/weave/endpoints/feedback.ts';
import {
  aliasesList,
  aliasesRemove,
  aliasesSet,
  tagsAdd,
  tagsList,
  tagsRemove,
} from '../../../core/doors/weave/endpoints/labels.ts';
import { tableCreateFromDigests, tableQueryStatsBatch } from '../../../core/doors/weave/endpoints/tables.ts';
import { traceUsage } from '../../../core/doors/weave/endpoints/usage.ts';

/** The endpoints that Weave's door alone has, with those that it has by other paths, as if each were a route. */
export const doorRoutes: readonly KeyedRoute[] = [
  traceUsage,
  feedbackPayloadSchema,
  completionsCreate,
  tableCreateFromDigests,
  tableQueryStatsBatch,
  aliasesSet,
  aliasesRemove,
  tagsAdd,
  tagsRemove,
  aliasesList,
  tagsList,
  { ...callUpsertBatch, path: '/v2/{entity}/{project}/calls/complete' as const },
  { ...callStart, path: '/v2/{entity}/{project}/call/start' as const },
  { ...callEnd, path: '/v2/{entity}/{project}/call/end' as const },
  { ...fileCreate, path: '/files/create' as const },
  { ...fileContent, path: '/files/content' as const },
  { ...otelTraces, path: '/agents/otel/v1/traces' as const },
].map((route) => ({ ...route, path: `/weave${route.path}` }) as unknown as KeyedRoute);
