import pMap from 'p-map';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../api/endpoint.ts';
import { getScenarios, type Scenario } from '../support/endpoints/index.ts';
import { paced } from '../support/run/pace.ts';
import { deep, repeatWith } from '../support/run/sampling.ts';
import { type InProcessWithModel, startInProcessWithModel } from '../support/service/in-process.ts';
import { chooseFaults, cover, type Injected, newCoverage } from './injected.ts';
import { type Clean, runClean, runFaulty, shortMs } from './trial.ts';

/** How many trials of one scenario are under way at once: most of them wait. */
const concurrency = deep ? 8 : 4;

/** A scenario as it goes without faults, and the faults to try with it. */
interface Prepared {
  readonly clean: Clean;
  readonly faults: readonly Injected[];
}

const named = ({ fault, operation, nth, lasting }: Injected): string =>
  `${fault} ${lasting ? 'from' : 'at'} ${operation} ${nth}`;

/** How much is tried with the routes. */
interface FaultOptions {
  /** Whether ways to fail are a sample, because other routes fail in each. @default false */
  readonly sampled?: boolean;
}

/**
 * Has storage requests that the scenarios of routes make fail, once and for good, and looks whether
 * each request keeps its promise.
 */
export const describeFaults = (
  routes: readonly Pick<Route, 'path'>[],
  { sampled = false }: FaultOptions = {},
): void => {
  const coverage = newCoverage(sampled);
  const prepared = new Map<Scenario, Prepared>();
  let service: InProcessWithModel;
  beforeAll(async () => {
    service = await startInProcessWithModel();
    // In their order, since what is sampled for one depends on those before it.
    for (const { path } of routes) {
      for (const scenario of getScenarios(path)) {
        const clean = await runClean(service, scenario);
        prepared.set(scenario, { clean, faults: chooseFaults(coverage, path, scenario, clean.operations) });
      }
    }
  });
  afterAll(() => service.stop());

  const tryOut = async (path: string, clean: Clean, injected: Injected): Promise<void> => {
    // A busy machine may need longer to come as far as the request that is to fail.
    for (const timeMs of [shortMs, 5 * shortMs, 20 * shortMs]) {
      if (!(await runFaulty(service, clean, injected, timeMs))) continue;
      cover(coverage, path, injected);
      break;
    }
  };

  describe.concurrent.each(routes.map(({ path }) => path))('%s', (path) => {
    const ofRoute = getScenarios(path);

    it.each(ofRoute)(
      '$name: whole, or refused and repeated, whatever fails',
      { timeout: paced(600_000) },
      async (scenario) => {
        const { clean, faults } = prepared.get(scenario) ?? expect.unreachable('it was prepared');
        expect(clean.operations.length).toBeGreaterThan(0);
        const failures: string[] = [];
        const collect = (injected: Injected) =>
          tryOut(path, clean, injected).catch((error: Error) => {
            failures.push(`${named(injected)}: ${error.message}`);
          });
        await pMap(faults, collect, { concurrency });
        expect(failures, [repeatWith, ...failures].join('\n')).toEqual([]);
      },
    );
  });

  describe('the storage requests of all routes', () => {
    it('have each failed on each route', () => {
      expect(coverage.operationsDone).toEqual(coverage.operations);
    });

    // Other files try every way then.
    if (sampled) return;

    it('have each failed in every way', () => {
      expect(coverage.waysDone).toEqual(coverage.ways);
    });
  });
};
