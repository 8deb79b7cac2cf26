import type { Scenario } from '../support/endpoints/index.ts';
import { type Fault, fits } from '../support/faults/faults.ts';
import { deep, sample } from '../support/run/sampling.ts';

/** A fault at one storage request, or a few, or at that one and all after it. */
export interface Injected {
  readonly fault: Fault;
  readonly lasting: boolean;
  /** The operation of the request that is the first to suffer it. */
  readonly operation: string;
  /** Which of the requests with that operation it is, from 0. */
  readonly nth: number;
}

/** What the store never has, though the same request succeeds by itself later. */
export const unreached: readonly Fault[] = ['throttle', 'hang', 'down'];

const once: readonly Fault[] = [...unreached, 'error', 'reset', 'half', 'refuse', 'missing', 'corrupt'];
const forGood: readonly Fault[] = ['throttle', 'error', 'hang', 'reset', 'down', 'missing', 'corrupt'];

type Way = Pick<Injected, 'fault' | 'lasting'>;

/** Every way in which a storage request of a scenario can fail. */
const listWays = (operation: string, { unharmed }: Scenario): Way[] =>
  [
    ...once.map((fault) => ({ fault, lasting: false })),
    // What is done beside the answer is tried for as long as the function has.
    ...(unharmed ? [] : forGood).map((fault) => ({ fault, lasting: true })),
  ].filter(({ fault }) => fits(fault, operation));

/** The name of a way. An ordinary run has a fault once or for good, which has the same name. */
const wayName = (operation: string, { fault, lasting }: Way): string =>
  `${operation}: ${fault}${lasting && deep ? ' for good' : ''}`;

/** What has failed in the tests of a file, and what has to. */
export interface Coverage {
  /**
   * Ways in which each operation can fail, e.g. `Query: throttle`; each is injected once.
   */
  readonly ways: Set<string>;
  readonly waysDone: Set<string>;
  /** Operations by route, e.g. `/call/read: Query`; each fails at least once. */
  readonly operations: Set<string>;
  readonly operationsDone: Set<string>;
  /** Ways, and operations by route, that a test has taken on; another need not. */
  readonly taken: Set<string>;
  /** Whether a test takes on one way for each operation, even if no other takes on the rest. */
  readonly sampled: boolean;
}

/** Coverage of nothing yet. */
export const newCoverage = (sampled = false): Coverage => ({
  sampled,
  ways: new Set(),
  waysDone: new Set(),
  operations: new Set(),
  operationsDone: new Set(),
  taken: new Set(),
});

/** Writes down that a fault was injected. */
export const cover = (coverage: Coverage, path: string, injected: Injected): void => {
  coverage.waysDone.add(wayName(injected.operation, injected));
  coverage.operationsDone.add(`${path}: ${injected.operation}`);
};

/** Takes on what no other test has; gives whether that is so. */
const takeOn = ({ taken }: Coverage, name: string): boolean => !taken.has(name) && taken.add(name).size > 0;

/**
 * The ways that are tried with an operation of a scenario: each fault that no other test has taken
 * on, once or for good. If there is none, it is any one, provided that no other test has the
 * operation on the same route.
 */
const chosenWays = (coverage: Coverage, path: string, operation: string, ways: readonly Way[]): Way[] => {
  const isFirst = takeOn(coverage, `${path}: ${operation}`);
  const byFault = coverage.sampled ? [] : [...Map.groupBy(ways, (way) => wayName(operation, way))];
  const fresh = byFault.filter(([name]) => takeOn(coverage, name));
  return fresh.length > 0 || !isFirst
    ? fresh.flatMap(([name, some]) => sample(some, 1, name))
    : sample(ways, 1, `${path} ${operation}`);
};

/**
 * The faults to be tried with a scenario, in a deep run all of them at every storage request. Else
 * they are what no earlier test of the file has tried, at one storage request of its operation, or
 * any one. So each operation of each route fails, each operation by every fault, and something in
 * each scenario.
 *
 * @param operations the storage requests that the scenario makes, in order
 */
export const chooseFaults = (
  coverage: Coverage,
  path: string,
  scenario: Scenario,
  operations: readonly string[],
): Injected[] => {
  const placed = (operation: string, ways: readonly Way[]): Injected[] => {
    const all = operations.filter((other) => other === operation).map((_, nth) => nth);
    const places = sample(all, 1, `${path} ${scenario.name} ${operation}`);
    return places.flatMap((nth) => ways.map((way) => ({ ...way, operation, nth })));
  };
  const kinds = [...new Set(operations)];
  const chosen = kinds.flatMap((operation) => {
    const ways = listWays(operation, scenario);
    coverage.operations.add(`${path}: ${operation}`);
    for (const way of ways) coverage.ways.add(wayName(operation, way));
    return placed(operation, deep ? ways : chosenWays(coverage, path, operation, ways));
  });
  if (chosen.length > 0) return chosen;
  const any = kinds.flatMap((operation) => placed(operation, listWays(operation, scenario)));
  return sample(any, 1, `${path} ${scenario.name}`);
};
