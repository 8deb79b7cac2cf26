import type { FunctionSpec } from 'cdk-local-runner/template';
import { runs } from '../run/sampling.ts';

/**
 * How many shards lists have in tests. Each takes a request, so there are fewer than are deployed;
 * a deep run has those four.
 */
export const shards = runs(2, 4);

/** Functions whose lists have the shards of tests. */
export const withTestShards = (functions: readonly FunctionSpec[]): FunctionSpec[] =>
  functions.map((spec) => ({
    ...spec,
    environment: { ...spec.environment, ...('SHARDS' in spec.environment && { SHARDS: String(shards) }) },
  }));
