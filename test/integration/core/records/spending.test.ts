import { beforeAll, describe, expect, it } from 'vitest';
import { limitsOfProject } from '../../../../core/records/limits.ts';
import {
  nanosUp,
  notifyNearlyReached,
  readSpent,
  reserve,
  type SpendingLimit,
  type SpendingLimitReached,
  type Spent,
  settleReservation,
  toLimits,
} from '../../../../core/records/spending.ts';
import { requestBudget, type Table } from '../../../../foundations/storage/index.ts';
import { parseProjectId } from '../../../../foundations/wire/index.ts';
import type { Fault } from '../../../support/faults/faults.ts';
import { faultPlan, makeFaulty, planned, type SdkClient } from '../../../support/faults/faulty-client.ts';
import { createStores } from '../../../support/service/stores.ts';

let table: Table;
beforeAll(async () => {
  const { dynamodb, rollupsTable } = await createStores();
  makeFaulty(dynamodb as SdkClient);
  table = { client: dynamodb, name: rollupsTable };
});

const budget = () => requestBudget(20_000);
const time = Date.parse;
const noon = time('2026-11-30T12:00:00Z');
const hold = (limits: readonly SpendingLimit[], usd: number, now = noon) =>
  reserve(table, limits, nanosUp(usd), now, budget());
const readSpentUsd = async (limits: readonly SpendingLimit[], now = noon) =>
  (await readSpent(table, limits, now, budget())).map(({ spent }) => spent / 1e9);

describe('money that is held', () => {
  it('never passes a limit of key or project, however many hold it at once', async () => {
    const limits = [
      ...toLimits('key', 'together', { usdPerDay: 1 }),
      ...toLimits('project', 'acme/together', { usdPerMonth: 0.7 }),
    ];
    const all = await Promise.allSettled(Array.from({ length: 30 }, () => hold(limits, 0.1)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    expect(await readSpentUsd(limits)).toEqual([0.7, 0.7]);
  });

  it('gives back what was not spent, and never twice', async () => {
    const limits = toLimits('key', 'back', { usdPerDay: 1, usdPerMonth: 10 });
    const reservation = await hold(limits, 0.9);
    await expect(hold(limits, 0.2)).rejects.toMatchObject({ status: 429 });
    await settleReservation(table, reservation, nanosUp(0.3), budget());
    await hold(limits, 0.2);
    expect(await readSpentUsd(limits)).toEqual([0.5, 0.5]);
  });

  it('counts as spent if nobody knows the price, or whoever held it has died', async () => {
    const limits = toLimits('key', 'died', { usdPerDay: 1 });
    await settleReservation(table, await hold(limits, 0.4), null, budget());
    await hold(limits, 0.4);
    expect(await readSpentUsd(limits)).toEqual([0.8]);
  });

  it('begins anew with the UTC day and month, and counts in those in which it was held', async () => {
    const limits = toLimits('key', 'anew', { usdPerDay: 1, usdPerMonth: 1.5 });
    const late = time('2026-11-30T23:59:59.999Z');
    const yesterday = time('2026-11-29T12:00:00Z');
    const midnight = time('2026-12-01T00:00:00Z');
    await hold(limits, 0.5, yesterday);
    const reservation = await hold(limits, 1, late);
    await expect(hold(limits, 0.1, late)).rejects.toMatchObject({ resetsAt: '2026-12-01T00:00:00.000000Z' });
    await hold(limits, 1, midnight);
    await settleReservation(table, reservation, nanosUp(0.25), budget());
    expect(await readSpentUsd(limits, late)).toEqual([0.25, 0.75]);
    expect(await readSpentUsd(limits, midnight)).toEqual([1, 1]);
  });

  it('is refused by the limit that begins anew last, with what it takes to say so', async () => {
    const limits = toLimits('project', 'acme/told', { usdPerDay: 1, usdPerMonth: 1 });
    const now = time('2026-11-10T12:00:00Z');
    await hold(limits, 0.75, now);
    const refused: SpendingLimitReached = await hold(limits, 0.5, now).then(
      () => expect.unreachable(),
      (error) => error,
    );
    expect(refused).toMatchObject({
      status: 429,
      limitUsd: 1,
      spentUsd: 0.75,
      resetsAt: '2026-12-01T00:00:00.000000Z',
      retryAfterSeconds: 20.5 * 86_400,
    });
    expect(refused.detail).toEqual([
      {
        loc: ['header', 'openai-project'],
        msg: "the project's limit of $1 a month leaves $0.25, and this request may cost up to $0.5; it resets at 2026-12-01T00:00:00.000000Z",
        type: 'spending_limit',
      },
    ]);
  });

  it('is told amounts below a hundredth of a cent as they are', async () => {
    const limits = toLimits('project', 'acme/tiny', { usdPerDay: 0.000_05 });
    await hold(limits, 0.000_03, noon);
    await expect(hold(limits, 0.000_025_5, noon)).rejects.toMatchObject({
      message: expect.stringContaining(
        "the project's limit of $0.00005 a day leaves $0.00002, and this request may cost up to $0.0000255;",
      ),
    });
  });

  it('is refused where one request alone is dearer than a limit', async () => {
    const limits = toLimits('key', 'dear', { usdPerDay: 1 });
    await expect(hold(limits, 1.01)).rejects.toMatchObject({ status: 429, spentUsd: 0 });
  });

  it('takes a write unit of a key for day and month together, as often to settle, and no read', async () => {
    const none = budget();
    const both = budget();
    await reserve(table, [], 1, noon, none);
    const limits = toLimits('key', 'units', { usdPerDay: 1, usdPerMonth: 1 });
    await settleReservation(table, await reserve(table, limits, 2, noon, both), 1, both);
    expect(none.meter.requests).toBe(0);
    expect(both.meter).toMatchObject({ requests: 2, writeUnits: 2, readUnits: 0 });
  });
});

/** Does something whose first request to the store has a fault. */
const withFirst = <T>(fault: Fault, work: () => Promise<T>): Promise<T> =>
  planned(
    faultPlan((number) => (number === 0 ? fault : 'none')),
    work,
  );

describe('money whose counter does not answer', () => {
  it.each(['throttle', 'down', 'error', 'reset'] as const)('is held once: %s', async (fault) => {
    const limits = toLimits('key', `held ${fault}`, { usdPerDay: 1 });
    await withFirst(fault, () => hold(limits, 0.4));
    expect(await readSpentUsd(limits)).toEqual([0.4]);
  });

  it.each([
    ['throttle', undefined, 0.1],
    ['down', 503, 0.4],
    ['error', 503, 0.1],
    ['reset', 503, 0.1],
  ] as const)('goes back at most once: %s', async (fault, status, usd) => {
    const limits = toLimits('key', `back ${fault}`, { usdPerDay: 1 });
    const reservation = await hold(limits, 0.4);
    const settled = withFirst(fault, () => settleReservation(table, reservation, nanosUp(0.1), budget()));
    if (status === undefined) await settled;
    else await expect(settled).rejects.toMatchObject({ status });
    expect(await readSpentUsd(limits)).toEqual([usd]);
  });

  it('goes back where it was held, if the counter of another limit refuses it', async () => {
    const limits = [
      ...toLimits('project', 'acme/refuses', { usdPerDay: 1 }),
      ...toLimits('key', 'refused', { usdPerDay: 2 }),
    ];
    const refused = planned(
      faultPlan((number) => (number === 1 ? 'refuse' : 'none')),
      () => hold(limits, 0.4),
    );
    await expect(refused).rejects.toThrow('made by the test');
    expect(await readSpentUsd(limits)).toEqual([0, 0]);
  });
});

describe('the limit of an end user', () => {
  const projectId = parseProjectId('acme/users') ?? ('' as never);
  const limitsOfUser = (endUser: string | undefined) =>
    limitsOfProject(projectId, { usdPerDay: 2.5, usdPerDayPerUser: 1 }, endUser);

  it('is of each user of its project, beside the limits of the project', async () => {
    const long = 'x'.repeat(5000);
    await hold(limitsOfUser('ada'), 0.75);
    await hold(limitsOfUser(long), 1);
    await expect(hold(limitsOfUser('ada'), 0.5)).rejects.toMatchObject({
      status: 429,
      detail: [
        {
          loc: ['body', 'user'],
          msg: expect.stringContaining("the end user's limit of $1 a day leaves $0.25"),
        },
      ],
    });
    await expect(hold(limitsOfUser('ben'), 0.8)).rejects.toMatchObject({ limitUsd: 2.5, spentUsd: 1.75 });
    await hold(limitsOfUser(undefined), 0.5);
    expect(await readSpentUsd(limitsOfUser('ada'))).toEqual([2.25, 0.75]);
    expect(await readSpentUsd(limitsOfUser('ben'))).toEqual([2.25, 0]);
    expect(await readSpentUsd(limitsOfUser(long))).toEqual([2.25, 1]);
  });
});

describe('a limit that is nearly reached', () => {
  /** Looks at limits as one process does that has just started. */
  const look = (limits: readonly SpendingLimit[], notify: (spent: Spent) => Promise<void>, now = noon) =>
    readSpent(table, limits, now, budget()).then((spent) =>
      notifyNearlyReached(table, spent, notify, new Set(), budget()),
    );

  it('is told of once in its period, by however many who look, and not before four fifths', async () => {
    const limits = toLimits('key', 'nearly', { usdPerDay: 1, usdPerMonth: 2 });
    const notified: Spent[] = [];
    const notify = async (spent: Spent) => void notified.push(spent);
    await hold(limits, 0.79);
    await look(limits, notify);
    expect(notified).toEqual([]);
    await hold(limits, 0.01);
    await Promise.all(Array.from({ length: 10 }, () => look(limits, notify)));
    expect(notified.map(({ limit, spent }) => [limit.period, spent / 1e9])).toEqual([['day', 0.8]]);

    const tomorrow = noon + 86_400_000;
    await hold(limits, 0.9, tomorrow);
    await look(limits, notify, tomorrow);
    const [raised] = toLimits('key', 'nearly', { usdPerDay: 1.1 });
    if (raised) await look([raised], notify, tomorrow);
    expect(notified.map(({ limit }) => limit.usd)).toEqual([1, 1, 1.1]);
  });

  it('is told of by the next who looks, if somebody could not', async () => {
    const limits = toLimits('project', 'acme/nearly', { usdPerDay: 1 });
    await hold(limits, 1);
    const failing = look(limits, async () => {
      throw new Error('no bus');
    });
    await expect(failing).rejects.toThrow('no bus');
    const notified: Spent[] = [];
    await look(limits, async (spent) => void notified.push(spent));
    expect(notified).toHaveLength(1);
  });
});
