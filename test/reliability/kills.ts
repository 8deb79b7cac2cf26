import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getFunctionPath, getScenarios, type Scenario } from '../support/endpoints/index.ts';
import { type FaultyService, startFaultyService } from '../support/faults/faulty-service.ts';
import { deep, repeatWith, sample } from '../support/run/sampling.ts';
import type { Answer, Sender } from '../support/service/in-process.ts';
import { expectNothingHalf, look, prepare, type Seen } from './trial.ts';

/** A storage request: which one with that operation, from 0. */
interface NthRequest {
  readonly operation: string;
  readonly nth: number;
}

/**
 * When a function is killed: before the store has a request, or behind it. Without a request it is
 * never.
 */
interface Moment {
  readonly when: 'before' | 'behind';
  readonly request?: NthRequest;
}

/** What is to happen at a moment, and the operations of the storage requests so far. */
interface Trap extends Moment {
  readonly spring: () => Promise<void>;
  readonly operations: string[];
}

/** What happened to a request whose function was to be killed. */
interface Killed {
  readonly answer: Answer;
  readonly killed: boolean;
  readonly operations: readonly string[];
}

/** Sends requests whose functions are killed on their way. */
export interface Killer {
  readonly sender: Sender;
  /** Where the trap is set now; undefined between requests. */
  readonly trap: () => Trap | undefined;
  sendKilled(path: string, send: () => Promise<Answer>, moment: Moment): Promise<Killed>;
}

const startKiller = async (settings: Readonly<Record<string, unknown>> | undefined) => {
  let trap: Trap | undefined;
  const pass = (when: Trap['when']) => async (operation: string) => {
    // The keys are the authorizer's affair.
    if (!trap || operation === 'GetItem') return 'none' as const;
    if (when === 'before') trap.operations.push(operation);
    const nth = trap.operations.filter((other) => other === operation).length - 1;
    const { request } = trap;
    if (trap.when !== when || request?.operation !== operation || request.nth !== nth) return 'none' as const;
    await trap.spring();
    return 'hang' as const;
  };
  const faulty: FaultyService = await startFaultyService(
    ({ operation }) => pass('before')(operation),
    async ({ operation }) => void (await pass('behind')(operation)),
    settings ? { settings } : {},
  );
  const sendKilled: Killer['sendKilled'] = async (path, send, moment) => {
    let killed = false;
    const spring = async (): Promise<void> => {
      killed = true;
      await faulty.service.killWorkers(getFunctionPath(path));
    };
    const set: Trap = { ...moment, spring, operations: [] };
    trap = set;
    const answer = await send();
    trap = undefined;
    return { answer, killed, operations: set.operations };
  };
  return { sender: faulty.sender, sendKilled, trap: () => trap, stop: faulty.stop };
};

/**
 * Starts the functions that are deployed, behind the local gateway, for the tests of a file.
 *
 * @param settings what shall differ in their stack
 */
export const useKiller = (settings?: Readonly<Record<string, unknown>>): (() => Killer) => {
  let killer: Awaited<ReturnType<typeof startKiller>> | undefined;
  beforeAll(async () => {
    killer = await startKiller(settings);
  });
  afterAll(() => killer?.stop());
  return () => killer ?? expect.unreachable('it was started');
};

/**
 * Runs a scenario whose function is killed. Gives the operations of its storage requests, whether
 * it got as far, and what was seen before and after it.
 *
 * @param known what is seen before it. @default - it is looked at
 */
const tryKill = async (
  { sender, sendKilled }: Killer,
  path: string,
  scenario: Scenario,
  moment: Moment,
  known?: Seen,
) => {
  const { project, request } = await prepare(sender, scenario);
  const before = known ?? (await look(sender, scenario, project));
  const { answer, killed, operations } = await sendKilled(path, () => sender.send(request), moment);
  const seen = await look(sender, scenario, project);
  if (killed && !scenario.unharmed) expectBadGateway(answer);
  if (!scenario.unharmed) expect(await sender.send(request)).toMatchObject({ status: 200, complete: true });
  const after = await look(sender, scenario, project);
  if (!scenario.unharmed) expectNothingHalf({ scenario, before, after }, seen);
  return { killed, operations, before, after };
};

/** Which storage request with its operation each of them is. */
const numberRequests = (operations: readonly string[]): NthRequest[] =>
  operations.map((operation, i) => ({
    operation,
    nth: operations.slice(0, i).filter((other) => other === operation).length,
  }));

const getKind = ({ when, request }: Moment): string => `${when} ${request?.operation}`;

/** When a function can be killed: before each of its storage requests, and behind the last. */
const allMoments = (operations: readonly string[]): Moment[] => {
  const requests = numberRequests(operations);
  const before = requests.map((request): Moment => ({ when: 'before', request }));
  return [...before, ...requests.slice(-1).map((request): Moment => ({ when: 'behind', request }))];
};

/**
 * When a function is killed: in a deep run at all moments. An ordinary run has one of each kind
 * that no earlier route has tried, but at least one.
 *
 * @param tried the kinds of moments that earlier routes have tried
 */
const chosenMoments = (path: string, moments: readonly Moment[], tried: ReadonlySet<string>): Moment[] => {
  if (deep) return [...moments];
  const fresh = Map.groupBy(moments, getKind);
  for (const kind of tried) fresh.delete(kind);
  if (fresh.size === 0) return sample(moments, 1, path);
  return [...fresh].flatMap(([kind, some]) => sample(some, 1, `${path} ${kind}`));
};

const expectBadGateway = ({ status, headers, text }: Answer): void => {
  expect(status).toBe(502);
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(JSON.parse(text)).toMatchObject({ detail: [{ type: 'internal_error' }] });
};

/** What the scenarios are of. */
interface KillOptions {
  /**
   * How many moments of each route are tried, unless the run is deep. @default - as many as all
   * kinds of moments take
   */
  readonly most?: number;
}

/**
 * Has the functions of routes die at storage requests, of each operation on some route. They die
 * before the store has it, and, at the last, when it has and nobody knows.
 */
export const describeKills = (
  killer: () => Killer,
  paths: readonly string[],
  { most = Number.POSITIVE_INFINITY }: KillOptions = {},
): void => {
  const possible = new Set<string>();
  const tried = new Set<string>();

  describe.each(paths)('%s', (path) => {
    // The last scenario of a route is the one that makes the most different requests.
    const scenario = getScenarios(path).at(-1);

    it(`is whole or not there when its function dies, and can be repeated: ${scenario?.name}`, async () => {
      if (!scenario) throw new Error(`${path} has no scenario`);
      const {
        operations,
        before,
        after: whole,
      } = await tryKill(killer(), path, scenario, { when: 'before' });
      expect(operations.length).toBeGreaterThan(0);
      const moments = allMoments(operations);
      for (const moment of moments) possible.add(getKind(moment));
      for (const moment of sample(chosenMoments(path, moments, tried), most, path)) {
        const { killed, after } = await tryKill(killer(), path, scenario, moment, before);
        const where = `${repeatWith}: ${moment.when} ${moment.request?.operation} ${moment.request?.nth}`;
        expect(killed, where).toBe(true);
        expect(after, where).toEqual(whole);
        tried.add(getKind(moment));
      }
    });
  });

  if (!deep && most < Number.POSITIVE_INFINITY) return;
  it('functions have died at moments of every kind', () => {
    expect([...tried].sort()).toEqual([...possible].sort());
  });
};
