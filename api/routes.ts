import { alertRoutes } from './alerts.ts';
import { callChanges, callReports } from './calls.ts';
import { costRoutes } from './costs.ts';
import type { Route } from './endpoint.ts';
import { evaluatorRoutes } from './evaluators.ts';
import { feedbackDeletion, feedbackRoutes } from './feedback.ts';
import { feedbackStatsRoutes } from './feedback-stats.ts';
import { fileRoutes } from './files.ts';
import { inferenceRoutes } from './inference.ts';
import { issueRoutes } from './issues.ts';
import { mcpRoutes } from './mcp.ts';
import { modelRoutes } from './models.ts';
import { objectRoutes } from './objects.ts';
import { otelRoutes } from './otel.ts';
import { peopleRoutes } from './people.ts';
import { projectChanges } from './project.ts';
import { projectRoutes } from './projects.ts';
import { promptRoutes } from './prompts.ts';
import { queryRoutes } from './queries.ts';
import { serviceRoutes } from './service.ts';
import { sharingRoutes } from './sharing.ts';
import { statsRoutes } from './stats.ts';
import { tableRoutes } from './tables.ts';
import { threadRoutes } from './threads.ts';
import { traceRoutes } from './traces.ts';
import { weaveRoutes } from './weave.ts';

const list = [
  ...callReports,
  ...queryRoutes,
  ...callChanges,
  ...traceRoutes,
  ...statsRoutes,
  ...otelRoutes,
  ...threadRoutes,
  ...objectRoutes,
  ...promptRoutes,
  ...tableRoutes,
  ...fileRoutes,
  ...costRoutes,
  ...feedbackRoutes,
  ...feedbackStatsRoutes,
  ...feedbackDeletion,
  ...evaluatorRoutes,
  ...issueRoutes,
  ...alertRoutes,
  ...sharingRoutes,
  ...inferenceRoutes,
  ...modelRoutes,
  ...mcpRoutes,
  ...peopleRoutes,
  ...projectRoutes,
  ...projectChanges,
  ...serviceRoutes,
] as const;

/** An endpoint of the documented API, with the types of what it takes and answers. */
export type DocumentedRoute = Exclude<(typeof list)[number], { readonly page: true }>;

/** The path of a route of the documented API, in API Gateway's resource syntax. */
export type RoutePath = DocumentedRoute['path'];

/**
 * The one list of the documented endpoints, area by area. The REST API, the authorizers, the IAM permissions, the
 * bundles, the local service, the OpenAPI document and the tests are all made from it. The examples
 * of the endpoints work in this order.
 */
export const routes: readonly Route[] = list;

/** These, and those of Weave's door, which Weave describes. */
export const allRoutes: readonly Route[] = [...routes, ...weaveRoutes];
