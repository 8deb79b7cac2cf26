import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { readSpent, reserve, type SpendingLimit, settleReservation } from '../../core/records/spending.ts';
import { hold, noteAsking, settle } from '../../core/workers/evaluators/question.ts';
import { requestBudget, type Table } from '../../foundations/storage/index.ts';
import { parseProjectId } from '../../foundations/wire/index.ts';
import { makeContended } from '../support/faults/contended-client.ts';
import { makeFaulty, type SdkClient } from '../support/faults/faulty-client.ts';
import { invocation, makeMortal, mortalRequest } from '../support/faults/mortal.ts';
import { runs } from '../support/run/sampling.ts';
import { createStores } from '../support/service/stores.ts';
import { random } from '../support/values/random.ts';

/*
 * Many containers spend from shared limits: requests by single updates, and judges by transactions that
 * meet them at the same counters. Storage conflicts as on AWS. In one test containers are killed and answers
 * lost as well.
 */

const now = Date.parse('2026-11-30T12:00:00Z');
const budget = () => requestBudget(30_000);

let table: Table;
beforeAll(async () => {
  const { dynamodb, rollupsTable } = await createStores();
  const client: SdkClient = dynamodb;
  makeContended(client, { roundTripMs: 2, phaseMs: 1, writeMs: 0.2 });
  makeFaulty(client);
  makeMortal(client);
  table = { client: dynamodb, name: rollupsTable };
});

/** What one container is asked for. */
interface Asked {
  /** Whose key and end user, of three each. */
  readonly key: number;
  readonly user: number;
  /** What is held, in billionths of a dollar. */
  readonly most: number;
  /** What it costs in the end, in hundredths of that. */
  readonly percent: number;
  readonly isJudges: boolean;
}

const asked = fc.record({
  key: fc.nat(2),
  user: fc.nat(2),
  most: fc.integer({ min: 1, max: 100 }),
  percent: fc.integer({ min: 0, max: 100 }),
  isJudges: fc.boolean(),
});

const plan = fc.record({
  containers: fc.array(fc.array(asked, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 8 }),
  /** In billionths of a dollar: from what refuses most to what refuses nothing. */
  limits: fc.record({
    user: fc.integer({ min: 50, max: 800 }),
    key: fc.integer({ min: 50, max: 800 }),
    evaluator: fc.integer({ min: 50, max: 800 }),
    day: fc.integer({ min: 50, max: 2000 }),
    month: fc.integer({ min: 50, max: 2000 }),
  }),
  seed: fc.nat(),
});

type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

let cases = 0;

/** One run of a plan: what its limits are, and what was really paid of each. */
class World {
  readonly #project = parseProjectId(`acme/spending-${cases++}`) ?? ('' as never);
  readonly #plan: Plan;
  readonly #paid = new Map<string, number>();
  /** How often each was refused. */
  refused = 0;
  #questions = 0;

  constructor(of: Plan) {
    this.#plan = of;
  }

  limitsFor({ key, user, isJudges }: Asked): readonly SpendingLimit[] {
    const { limits } = this.#plan;
    const projectId = this.#project;
    const ofProject = (['day', 'month'] as const).map((period) => ({
      of: 'project' as const,
      name: projectId,
      period,
      usd: limits[period] / 1e9,
    }));
    const own = { projectId, period: 'day' as const };
    if (isJudges) return [{ of: 'evaluator', name: 'e', usd: limits.evaluator / 1e9, ...own }, ...ofProject];
    return [
      ...ofProject,
      { of: 'key', name: `${projectId} ${key}`, period: 'day', usd: limits.key / 1e9 },
      { of: 'user', name: `user ${user}`, usd: limits.user / 1e9, ...own },
    ];
  }

  /** The upstream answers, and charges for it. */
  #pay(one: Asked): number {
    const cost = Math.floor((one.most * one.percent) / 100);
    for (const limit of this.limitsFor(one)) {
      const name = JSON.stringify(limit);
      this.#paid.set(name, (this.#paid.get(name) ?? 0) + cost);
      expect(this.#paid.get(name), name).toBeLessThanOrEqual(Math.round(limit.usd * 1e9));
    }
    return cost;
  }

  async #judge(one: Asked): Promise<void> {
    const entry = { projectId: this.#project, objectId: 'e', identity: 'i', callId: `c${this.#questions++}` };
    const wanted = { limits: this.limitsFor(one), amount: one.most, at: now, until: 0, worker: entry.callId };
    const holding = await hold(table, entry, wanted, budget());
    if (holding.kind !== 'held') throw new Error(`nobody else has the question, but it is ${holding.kind}`);
    const asking = await noteAsking(table, entry, holding.question, budget());
    if (!asking) throw new Error('somebody has taken over');
    const spent = await mortalRequest(async () => this.#pay(one));
    await settle(table, entry, asking, { spent }, budget());
  }

  /** One request, or one question of a judge. */
  async ask(one: Asked): Promise<void> {
    try {
      if (one.isJudges) return await this.#judge(one);
      const reservation = await reserve(table, this.limitsFor(one), one.most, now, budget());
      const spent = await mortalRequest(async () => this.#pay(one));
      await settleReservation(table, reservation, spent, budget());
    } catch (error) {
      if ((error as { status?: number }).status !== 429) throw error;
      this.refused++;
    }
  }

  /** Has all containers work at once, each on one request after the other. */
  async run(container: (list: readonly Asked[]) => Promise<void>): Promise<void> {
    await Promise.all(this.#plan.containers.map(container));
  }

  /** What counters say, and what was paid, of all limits. */
  async sums() {
    const all = this.#plan.containers.flat().flatMap((one) => this.limitsFor(one));
    const limits = [...new Map(all.map((limit) => [JSON.stringify(limit), limit])).values()];
    const counted = await readSpent(table, limits, now, budget());
    return counted.map(({ limit, spent }) => ({
      limit,
      spent,
      paid: this.#paid.get(JSON.stringify(limit)) ?? 0,
      most: Math.round(limit.usd * 1e9),
    }));
  }
}

describe('limits from which many containers spend at once', () => {
  it('are never passed, and counters have exactly what was paid; what is left can be used', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(plan, async (of) => {
        const world = new World(of);
        await world.run(async (list) => {
          for (const one of list) await world.ask(one);
        });
        refused += world.refused;
        const sums = await world.sums();
        expect(sums.map(({ spent }) => spent)).toEqual(sums.map(({ paid }) => paid));
        for (const { limit, spent, most } of sums) {
          if (spent === most) continue;
          const last = await reserve(table, [limit], most - spent, now, budget());
          expect(last.spent[0]?.spent).toBe(most);
          await settleReservation(table, last, 0, budget());
        }
      }),
      { numRuns: runs(15) },
    );
    expect(refused).toBeGreaterThan(0);
  });

  it('are never passed either if containers are killed and answers lost, which counts as spent', async () => {
    let died = 0;
    await fc.assert(
      fc.asyncProperty(plan, async (of) => {
        const world = new World(of);
        const numbers = random(of.seed);
        await world.run(async (list) => {
          for (const one of list) if ((await invocation(numbers, () => world.ask(one))).died) died++;
        });
        // What a killed container has sent may still arrive.
        await sleep(20);
        for (const { limit, spent, paid, most } of await world.sums()) {
          expect(spent, JSON.stringify(limit)).toBeGreaterThanOrEqual(paid);
          expect(spent, JSON.stringify(limit)).toBeLessThanOrEqual(most);
        }
      }),
      { numRuns: runs(15) },
    );
    expect(died).toBeGreaterThan(0);
  });
});
