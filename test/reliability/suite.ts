import pMap from 'p-map';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../api/routes.ts';
import { type InProcessWithModel, startInProcessWithModel } from '../support/in-process.ts';
import { repeatWith } from '../support/sampling.ts';
import { cover, faultsOf, type Injected, newCoverage } from './injected.ts';
import { scenarios } from './scenarios/index.ts';
import { runClean, runFaulty, shortMs } from './trial.ts';

/** How many trials are under way at once: most of them wait. */
const concurrency = 12;

const named = ({ fault, operation, nth, lasting }: Injected): string =>
  `${fault} ${lasting ? 'from' : 'at'} ${operation} ${nth}`;

/**
 * Has storage requests that the scenarios of routes make fail, once and for good, and looks whether
 * each request keeps its promise. A route without a scenario fails.
 */
export const describeFaults = (routes: readonly Route[]): void => {
  const coverage = newCoverage();
  let service: InProcessWithModel;
  beforeAll(async () => {
    service = await startInProcessWithModel();
  });
  afterAll(() => service.stop());

  describe.each(routes.map(({ path }) => path))('%s', (path) => {
    const ofRoute = scenarios[path] ?? [];

    it('has scenarios', () => {
      expect(ofRoute.length).toBeGreaterThan(0);
    });

    it.each(ofRoute)(
      '$name: whole, or refused and repeated, whatever fails',
      { timeout: 600_000 },
      async (scenario) => {
        const clean = await runClean(service, scenario);
        expect(clean.operations.length).toBeGreaterThan(0);
        const failures: string[] = [];
        const tryOut = async (injected: Injected): Promise<void> => {
          try {
            // A busy machine may need longer to come as far as the request that is to fail.
            for (const timeMs of [shortMs, 5 * shortMs, 20 * shortMs]) {
              if (!(await runFaulty(service, clean, injected, timeMs))) continue;
              cover(coverage, path, injected);
              break;
            }
          } catch (error) {
            failures.push(`${named(injected)}: ${(error as Error).message}`);
          }
        };
        await pMap(faultsOf(coverage, path, scenario, clean.operations), tryOut, { concurrency });
        expect(failures, repeatWith).toEqual([]);
      },
    );
  });

  describe('the storage requests of all routes', () => {
    it('have each failed on each route', () => {
      expect(coverage.operationsDone).toEqual(coverage.operations);
    });

    it('have each failed in every way', () => {
      expect(coverage.waysDone).toEqual(coverage.ways);
    });
  });
};
