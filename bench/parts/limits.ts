/**
 * How many model requests a second one spending limit takes. Storage is the embedded store behind a client
 * that has requests conflict as on AWS: test/support/faults/contended-client.ts.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { localCredentials } from 'cdk-local-runner';
import { localRegion } from 'cdk-local-runner/template';
import {
  holdingAdditions,
  reserve,
  settleReservation,
  settlingAdditions,
  toLimits,
} from '../../core/records/spending.ts';
import { dynamodbClient, requestBudget, type Table, transact } from '../../foundations/storage/index.ts';
import { ServiceError } from '../../foundations/wire/index.ts';
import { makeContended } from '../../test/support/faults/contended-client.ts';
import type { Bench, BenchPart } from '../harness/bench.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';

/** A store of some milliseconds, whose items take 1,000 writes a second. */
const pace = { roundTripMs: 5, phaseMs: 5, writeMs: 1 };
/** How long a model takes to answer, in milliseconds. */
const answerMs = 400;
/** Requests under way at once: 375 a second if nothing waits. */
const containers = 150;
const warmUpMs = 1000;
const measureMs = 5000;
/** The longest that holding may take, in milliseconds, as for the service's requests. */
const holdMs = 10_000;
/** What a request may cost, and what it does, in billionths of a dollar. */
const most = 4_000_000;
const cost = 1_000_000;

/** Holds and settles money of one request. */
interface Way {
  readonly hold: () => Promise<() => Promise<unknown>>;
}

const run = async (name: string, { hold }: Way): Promise<Figure[]> => {
  const from = Date.now() + warmUpMs;
  const until = from + measureMs;
  const isMeasured = () => Date.now() >= from && Date.now() < until;
  const held: number[] = [];
  let done = 0;
  let late = 0;
  const container = async (): Promise<void> => {
    while (Date.now() < until) {
      const before = performance.now();
      try {
        const settle = await hold();
        if (isMeasured()) held.push(performance.now() - before);
        await sleep(answerMs);
        await settle();
        if (isMeasured()) done++;
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status !== 503) throw error;
        late++;
      }
    }
  };
  await Promise.all(Array.from({ length: containers }, container));
  return [
    measured(`${name}: requests`, 'a second', [(done * 1000) / measureMs]),
    measured(`${name}: holding`, 'ms', held),
    counted(`${name}: not held in time`, 'requests', late),
  ];
};

const measure = async ({ environment, newStore }: Bench): Promise<Figure[]> => {
  const config = { region: localRegion, credentials: localCredentials };
  const client = dynamodbClient({ ...config, endpoint: environment.dynamodb });
  makeContended(client, pace);
  const table: Table = { client, name: (await newStore('bookkeeping')).table.name };
  const budget = () => requestBudget(holdMs);
  const limits = (name: string) => toLimits('project', `bench/${name}`, { usdPerDay: 1000 });
  const now = Date.now();
  const updates: Way = {
    hold: async () => {
      const reservation = await reserve(table, limits('updates'), most, now, budget());
      return () => settleReservation(table, reservation, cost, budget());
    },
  };
  const transactions: Way = {
    hold: async () => {
      const held = { limits: limits('transactions'), amount: most, at: now };
      await transact(table, { puts: [], adds: holdingAdditions(held) }, budget());
      return () => transact(table, { puts: [], adds: settlingAdditions(held, cost) }, budget());
    },
  };
  try {
    return [...(await run('transactions', transactions)), ...(await run('single updates', updates))];
  } finally {
    client.destroy();
  }
};

/** Requests a second of one limited project. */
export const limits: BenchPart = {
  name: 'limits',
  title: `One project's spending limit, ${containers} requests at once that take ${answerMs} ms each: by a transaction for each change, and by single updates`,
  run: async ({ bench }) => measure(await bench()),
};
