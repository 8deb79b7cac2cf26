import pMap from 'p-map';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../api/routes.ts';
import { type InProcessWithModel, startInProcessWithModel } from '../support/in-process.ts';
import { scenarios } from './scenarios/index.ts';
import { faultsOf, type Injected, runClean, runFaulty } from './trial.ts';

/** How many trials are under way at once: most of them wait. */
const concurrency = 12;

/** Whether every kind of fault is tried at every request, rather than the kinds by turns. */
const all = process.env.EVERY_FAULT === '1';

const named = ({ fault, at, lasting }: Injected, operations: readonly string[]): string =>
  `${fault} ${lasting ? 'from' : 'at'} request ${at} of ${operations.length} (${operations[at]})`;

/**
 * Has every storage request that the scenarios of routes make fail in turn, once and for good, and
 * looks whether each request keeps its promise. A route without a scenario fails.
 */
export const describeFaults = (routes: readonly Route[]): void => {
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
          await runFaulty(service, clean, injected).catch((error: Error) =>
            failures.push(`${named(injected, clean.operations)}: ${error.message}`),
          );
        };
        await pMap(faultsOf(clean, all), tryOut, { concurrency });
        expect(failures).toEqual([]);
      },
    );
  });
};
