import { alertsPreview, alertsQuery, alertsTest } from './alerts.ts';
import { callEnd, callStart, callsDelete, callUpdate, callUpsertBatch } from './calls.ts';
import { costCreate, costPurge, costQuery } from './costs.ts';
import type { Route } from './endpoint.ts';
import { callsScore } from './evaluators.ts';
import {
  feedbackBatchCreate,
  feedbackCreate,
  feedbackPurge,
  feedbackQuery,
  feedbackReplace,
} from './feedback.ts';
import { feedbackStats } from './feedback-stats.ts';
import { fileContent, fileCreate } from './files.ts';
import { inference } from './inference.ts';
import { agents, mcp } from './mcp.ts';
import { inferenceModel, inferenceModels } from './models.ts';
import { objCreate, objDelete, objRead, objsQuery, refsReadBatch } from './objects.ts';
import { otelLogs, otelMetrics, otelTraces } from './otel.ts';
import { me, projectsQuery } from './projects.ts';
import { callRead, callsQueryStats, callsStreamQuery } from './queries.ts';
import { health, openapi, pageRoutes } from './service.ts';
import { callsStats, callsUsage } from './stats.ts';
import { tableCreate, tableQuery, tableQueryStats, tableUpdate } from './tables.ts';
import { threadsStreamQuery } from './threads.ts';
import { weaveRoutes } from './weave.ts';

const list = [
  callStart,
  callEnd,
  callUpsertBatch,
  callRead,
  callsStreamQuery,
  callsQueryStats,
  callUpdate,
  callsDelete,
  callsStats,
  callsUsage,
  otelTraces,
  otelLogs,
  otelMetrics,
  threadsStreamQuery,
  objCreate,
  objRead,
  objsQuery,
  refsReadBatch,
  objDelete,
  tableCreate,
  tableUpdate,
  tableQuery,
  tableQueryStats,
  fileCreate,
  fileContent,
  costCreate,
  costQuery,
  costPurge,
  feedbackCreate,
  feedbackBatchCreate,
  feedbackReplace,
  feedbackQuery,
  feedbackStats,
  feedbackPurge,
  callsScore,
  alertsQuery,
  alertsPreview,
  alertsTest,
  inference,
  inferenceModels,
  inferenceModel,
  mcp,
  me,
  projectsQuery,
  health,
  openapi,
  agents,
  ...pageRoutes,
] as const;

/** An endpoint of the documented API, with the types of what it takes and answers. */
export type DocumentedRoute = Exclude<(typeof list)[number], { readonly page: true }>;

/** The path of a route of the documented API, in API Gateway's resource syntax. */
export type RoutePath = DocumentedRoute['path'];

/**
 * The one list of the documented endpoints. The REST API, the authorizers, the IAM permissions, the
 * bundles, the local service, the OpenAPI document and the tests are all made from it. The examples
 * of the endpoints work in this order.
 */
export const routes: readonly Route[] = list;

/** These, and those of Weave's door, which Weave describes. */
export const allRoutes: readonly Route[] = [...routes, ...weaveRoutes];
