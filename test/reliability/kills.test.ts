import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isKeyed, routes } from '../../api/routes.ts';
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts';
import type { Answer, Sender } from '../support/in-process.ts';
import type { TestService } from '../support/service.ts';
import { type Scenario, scenarios } from './scenarios/index.ts';
import { expectNothingHalf, look, prepare } from './trial.ts';

/*
 * The functions that are deployed, behind the local gateway, killed at each of their storage
 * requests: before the store has it, and, at the last, when it has and nobody knows.
 */

/** More storage requests of a request are more of the same. */
const maxKills = 6;

/** What is to happen at a storage request of the number, from 0, and how many there were. */
interface Trap {
  readonly when: 'before' | 'behind';
  readonly at: number;
  readonly spring: () => Promise<void>;
  count: number;
}

let faulty: FaultyService;
let service: TestService;
let sender: Sender;
let trap: Trap | undefined;
beforeAll(async () => {
  const pass = (when: Trap['when']) => async (operation: string) => {
    // The keys are the authorizer's affair.
    if (!trap || operation === 'GetItem') return 'none' as const;
    const number = when === 'before' ? trap.count++ : trap.count - 1;
    if (trap.when !== when || trap.at !== number) return 'none' as const;
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
  at: number,
  when: Trap['when'],
): Promise<{ answer: Answer; killed: boolean; count: number }> => {
  let killed = false;
  const spring = async (): Promise<void> => {
    killed = true;
    await service.killWorkers(path);
  };
  const set: Trap = { when, at, spring, count: 0 };
  trap = set;
  const answer = await send();
  trap = undefined;
  return { answer, killed, count: set.count };
};

/**
 * Runs a scenario whose function is killed; gives how many storage requests there were, and whether
 * it got as far.
 */
const tryKill = async (path: string, scenario: Scenario, at: number, when: Trap['when']) => {
  const { project, request } = await prepare(sender, scenario);
  const before = await look(sender, scenario, project);
  const { answer, killed, count } = await sendKilled(path, () => sender.send(request), at, when);
  const seen = await look(sender, scenario, project);
  if (killed && !scenario.unharmed) expectBadGateway(answer);
  if (!scenario.unharmed) expect(await sender.send(request)).toMatchObject({ status: 200, complete: true });
  const after = await look(sender, scenario, project);
  if (!scenario.unharmed) expectNothingHalf({ scenario, before, after }, seen);
  return { killed, count, after };
};

const expectBadGateway = ({ status, headers, text }: Answer): void => {
  expect(status).toBe(502);
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(JSON.parse(text)).toMatchObject({ detail: [{ type: 'bad_gateway' }] });
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
    const { count, after: whole } = await tryKill(path, scenario, Number.POSITIVE_INFINITY, 'before');
    expect(count).toBeGreaterThan(0);
    for (let at = 0; at < Math.min(count, maxKills); at++) {
      const { killed, after } = await tryKill(path, scenario, at, 'before');
      expect(killed).toBe(true);
      expect(after).toEqual(whole);
    }
    const { killed, after } = await tryKill(path, scenario, count - 1, 'behind');
    expect(killed).toBe(true);
    expect(after).toEqual(whole);
  });
});

describe('/inference/v1/{path+}', () => {
  it('answers whole when its function dies over the record, which is whole or not there', async () => {
    const path = '/inference/v1/{path+}';
    const [scenario] = scenarios[path] ?? [];
    if (!scenario) throw new Error(`${path} has no scenario`);
    for (const at of [0, 1]) {
      const { project, request } = await prepare(sender, scenario);
      const { answer } = await sendKilled(
        path,
        async () => {
          const whole = await sender.send(request);
          await expect.poll(() => trap === undefined || trap.count > at, { timeout: 20_000 }).toBe(true);
          return whole;
        },
        at,
        'before',
      );
      expect(answer).toMatchObject({ status: 200, complete: true });
      expect(await look(sender, scenario, project)).toEqual([[], [], []]);
    }
  });
});
