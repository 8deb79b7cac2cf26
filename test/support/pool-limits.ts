import { defaultPoolLimits, type PoolLimits } from '../../local/runtime/worker-pool.ts';

/**
 * A worker for each route and more, since tests that call them all in turn would load functions
 * again and again.
 */
export const testPoolLimits: PoolLimits = { ...defaultPoolLimits, maxWorkers: 80 };
