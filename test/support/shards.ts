import { runs } from './sampling.ts';

/**
 * How many shards lists have in tests. Each takes a request, so there are fewer than are deployed;
 * a deep run has those four.
 */
export const shards = runs(2, 4);
