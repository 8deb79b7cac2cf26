import fc from 'fast-check';
import { runs, seed } from './sampling.ts';

/* Properties are tried with the seed of the run; fast-check prints it where one fails. */
fc.configureGlobal({ seed, numRuns: runs(100) });
