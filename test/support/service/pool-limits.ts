import { defaultPoolLimits, type PoolLimits } from 'cdk-local-runner/runtime';

/**
 * A worker for each route and more, which stay while files use them. Tests that call all routes in turn
 * would otherwise load functions again and again. Each takes some 15 MB, and ends after some seconds without work.
 */
export const testPoolLimits: PoolLimits = {
  ...defaultPoolLimits,
  maxWorkers: 80,
  idleMs: 5_000,
  lastIdleMs: 10_000,
};
