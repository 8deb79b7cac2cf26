import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isKeyed, routes } from '../../api/routes.ts';
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts';
import type { Answer, Sender } from '../support/in-process.ts';
import { repeatWith, sample } from '../support/sampling.ts';
import type { TestService } from '../support/service.ts';
import { type Scenario, scenarios } from './scenarios/index.ts';
import { expectNothingHalf, look, prepare } from './trial.ts';

/*
 * The functions that are deployed, behind the local gateway, killed at a storage request of each
 * operation: before the store has it, and, at the last, when it has and nobody knows.
 */

/** A storage request: which one with that operation, from 0. */
interface Place {
  readonly operation: string;
  readonly nth: number;
}

/**
 * When a function is killed: before the store has a request, or behind it; never without a place.
 */
interface Moment {
  readonly when: 'before' | 'behind';
  readonly place?: Place;
}

/** What is to happen at a moment, and the operations of the storage requests so far. */
interface Trap extends Moment {
  readonly spring: () => Promise<void>;
  readonly operations: string[];
}

let faulty: FaultyService;
let service: TestService;
let sender: Sender;
let trap: Trap | undefined;
beforeAll(async () => {
  const pass = (when: Trap['when']) => async (operation: string) => {
    // The keys are the authorizer's affair.
    if (!trap || operation === 'GetItem') return 'none' as const;
    if (when === 'before') trap.operations.push(operation);
    const nth = trap.operations.filter((other) => other === operation).length - 1;
    const { place } = trap;
    if (trap.when !== when || place?.operation !== operation || place.nth !== nth) return 'none' as const;
    await trap.spring();
    return 'hang' as const;
  };
  faulty = await startFaultyService(
    ({ operation }) => pass('before')(operation),
    async ({ operation }) => void (await pass('behind')(operation)),
  );
  ({ service, sender } = faulty);
});
afterAll(() => faulty.stop());

/** Sends a request whose function is killed on its way. */
const sendKilled = async (
  path: string,
  send: () => Promise<Answer>,
  moment: Moment,
): Promise<{ answer: Answer; killed: boolean; operations: readonly string[] }> => {
  let killed = false;
  const spring = async (): Promise<void> => {
    killed = true;
    await service.killWorkers(path);
  };
  const set: Trap = { ...moment, spring, operations: [] };
  trap = set;
  const answer = await send();
  trap = undefined;
  return { answer, killed, operations: set.operations };
};

/**
 * Runs a scenario whose function is killed; gives the operations of its storage requests, and
 * whether it got as far.
 */
const tryKill = async (path: string, scenario: Scenario, moment: Moment) => {
  const { project, request } = await prepare(sender, scenario);
  const before = await look(sender, scenario, project);
  const { answer, killed, operations } = await sendKilled(path, () => sender.send(request), moment);
  const seen = await look(sender, scenario, project);
  if (killed && !scenario.unharmed) expectBadGateway(answer);
  if (!scenario.unharmed) expect(await sender.send(request)).toMatchObject({ status: 200, complete: true });
  const after = await look(sender, scenario, project);
  if (!scenario.unharmed) expectNothingHalf({ scenario, before, after }, seen);
  return { killed, operations, after };
};

/** Which storage request with its operation each of them is. */
const placesOf = (operations: readonly string[]): Place[] =>
  operations.map((operation, i) => ({
    operation,
    nth: operations.slice(0, i).filter((other) => other === operation).length,
  }));

/**
 * When the function is killed: before one storage request of each operation, or, in a deep run,
 * before all of them; and behind the last.
 */
const momentsOf = (path: string, operations: readonly string[]): Moment[] => {
  const places = placesOf(operations);
  const chosen = [...new Set(operations)].flatMap((kind) =>
    sample(
      places.filter(({ operation }) => operation === kind),
      1,
      `${path} ${kind}`,
    ),
  );
  const last = places.slice(-1).map((place): Moment => ({ when: 'behind', place }));
  return [...chosen.map((place): Moment => ({ when: 'before', place })), ...last];
};

const expectBadGateway = ({ status, headers, text }: Answer): void => {
  expect(status).toBe(502);
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(JSON.parse(text)).toMatchObject({ detail: [{ type: 'internal_error' }] });
};

const writing = routes
  .filter(isKeyed)
  .filter(({ role }) => role === 'write')
  .map(({ path }) => path);

describe.each(writing)('%s', (path) => {
  // The last scenario of a route is the one that makes the most different requests.
  const scenario = scenarios[path]?.at(-1);

  it(`is whole or not there when its function dies, and can be repeated: ${scenario?.name}`, async () => {
    if (!scenario) throw new Error(`${path} has no scenario`);
    const { operations, after: whole } = await tryKill(path, scenario, { when: 'before' });
    expect(operations.length).toBeGreaterThan(0);
    for (const moment of momentsOf(path, operations)) {
      const { killed, after } = await tryKill(path, scenario, moment);
      const where = `${repeatWith}: ${moment.when} ${moment.place?.operation} ${moment.place?.nth}`;
      expect(killed, where).toBe(true);
      expect(after, where).toEqual(whole);
    }
  });
});

describe('/inference/v1/{path+}', () => {
  it('answers whole when its function dies over the record, which is whole or not there', async () => {
    const path = '/inference/v1/{path+}';
    const [scenario] = scenarios[path] ?? [];
    if (!scenario) throw new Error(`${path} has no scenario`);
    for (const nth of [0, 1]) {
      const { project, request } = await prepare(sender, scenario);
      const { answer } = await sendKilled(
        path,
        async () => {
          const whole = await sender.send(request);
          await expect
            .poll(() => trap === undefined || trap.operations.length > nth, { timeout: 20_000 })
            .toBe(true);
          return whole;
        },
        { when: 'before', place: { operation: 'BatchWriteItem', nth } },
      );
      expect(answer).toMatchObject({ status: 200, complete: true });
      expect(await look(sender, scenario, project)).toEqual([[], [], []]);
    }
  });
});
