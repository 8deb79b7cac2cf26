import { callScenarios } from './calls.ts';
import { costScenarios } from './costs.ts';
import { feedbackScenarios } from './feedback.ts';
import { inferenceScenarios } from './inference.ts';
import { objectScenarios } from './objects.ts';
import { otelScenarios } from './otel.ts';
import { queryScenarios } from './queries.ts';
import type { Scenario } from './scenario.ts';

export type { Scenario } from './scenario.ts';

/**
 * Representative requests by the path of their route: between them they make every kind of storage
 * request that it can make.
 */
export const scenarios: Readonly<Record<string, readonly Scenario[]>> = {
  ...callScenarios,
  ...queryScenarios,
  ...objectScenarios,
  ...costScenarios,
  ...feedbackScenarios,
  ...inferenceScenarios,
  ...otelScenarios,
};
