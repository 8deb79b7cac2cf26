import { defaultPoolLimits, type PoolLimits } from 'cdk-local-runner/runtime';

/**
 * A worker for each route and more, which stay as long as their service. Tests that call all routes
 * in turn would otherwise load functions again and again.
 */
export const testPoolLimits: PoolLimits = { ...defaultPoolLimits, maxWorkers: 80, idleMs: 600_000 };
