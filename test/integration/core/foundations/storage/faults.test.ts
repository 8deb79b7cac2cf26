import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { beforeAll, describe, expect, it } from 'vitest';
import { requestBudget, type Store } from '../../../../../core/foundations/storage/index.ts';
import { ServiceError } from '../../../../../core/foundations/wire/index.ts';
import { queryCalls } from '../../../../../core/questions/query/index.ts';
import { writeCalls } from '../../../../../core/records/calls/index.ts';
import { agentTraces } from '../../../../../examples/agent-traces.ts';
import { localCredentials } from '../../../../../local/stores.ts';
import { localRegion } from '../../../../../local/template/cloudformation.ts';
import {
  createCallStore,
  endOf,
  parseBatch,
  project,
  query,
  queryOf,
  read,
  send,
  startOf,
} from '../../../../support/calls.ts';
import { type Fault, startFaultyProxy } from '../../../../support/faulty-proxy.ts';
import { runs } from '../../../../support/sampling.ts';

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

const through = (endpoint: string): Store => ({
  ...store,
  table: {
    ...store.table,
    client: new DynamoDBClient({
      region: localRegion,
      credentials: localCredentials,
      endpoint,
      maxAttempts: 1,
    }),
  },
});

const target = async (): Promise<string> => {
  const { hostname, port } = (await store.table.client.config.endpoint?.()) ?? { hostname: '', port: 0 };
  return `http://${hostname}:${port}`;
};

const batchOf = (seed: number): object[] =>
  [...agentTraces({ projectId: project, conversations: 3, seed })].flatMap(({ start, end }, i) =>
    // Every third call's start comes alone, and every fifth call's end.
    [
      ...(i % 5 ? [{ mode: 'start', req: { start } }] : []),
      ...(i % 3 ? [{ mode: 'end', req: { end } }] : []),
    ],
  );

describe('storage that fails sometimes', () => {
  const faults: Fault[] = ['throttle', 'error', 'reset', 'half', 'none', 'none'];

  it('loses nothing that it acknowledged', async () => {
    let seen = 0;
    await using proxy = await startFaultyProxy(
      await target(),
      () => faults[seen++ % faults.length] ?? 'none',
    );
    const untouched = await createCallStore();
    const failing = through(proxy.endpoint);
    const sendBoth = async (seed: number): Promise<void> => {
      const batch = batchOf(seed);
      await send(failing, batch);
      await send(untouched, batch);
      const threads = Array.from({ length: 3 }, (_, i) => `support-${seed}-${i}`);
      const stored = await query(store, { filter: { threadIds: threads } });
      expect(stored.length).toBeGreaterThan(0);
      expect(stored).toEqual(await query(untouched, { filter: { threadIds: threads } }));
    };
    // Most of the time they wait until they try again.
    const batches = runs(6);
    await pMap(Array(batches).keys(), (i) => sendBoth(100 + i), { concurrency: 5 });
    expect(proxy.requests.length).toBeGreaterThan(5 * batches);
  });

  it('can still be read', async () => {
    let seen = 0;
    await using proxy = await startFaultyProxy(await target(), () =>
      seen++ % 2 ? 'none' : seen % 4 === 1 ? 'throttle' : 'half',
    );
    expect(await query(through(proxy.endpoint))).toEqual(await query(store));
  });
});

describe('the meter', () => {
  const batch = ['a', 'b', 'c', 'd'].flatMap((id) => [startOf({ id }), endOf({ id })]);
  const throttledOf = async (faultOf: (seen: number) => Fault): Promise<number> => {
    let seen = 0;
    await using proxy = await startFaultyProxy(await target(), () => faultOf(seen++));
    const { meter } = await send(through(proxy.endpoint), batch);
    return meter.throttled;
  };

  // This client repeats nothing by itself; a function's does twice, which the meter does not see.
  it('counts requests that were throttled or partly processed', async () => {
    expect(await throttledOf(() => 'none')).toBe(0);
    expect(await throttledOf((seen) => (seen < 3 ? 'throttle' : 'none'))).toBe(3);
    expect(await throttledOf((seen) => (seen === 0 ? 'half' : 'none'))).toBe(1);
  });

  it('does not count other failures among them', async () => {
    expect(await throttledOf((seen) => (seen < 4 ? 'error' : 'none'))).toBe(0);
  });
});

describe('storage that refuses for too long', () => {
  it('is answered with a 503 that says to send the same again, which then works', async () => {
    let down = true;
    await using proxy = await startFaultyProxy(await target(), () => (down ? 'throttle' : 'none'));
    const item = startOf({ id: 'patient' });
    const write = () => writeCalls(through(proxy.endpoint), parseBatch([item]), 'ada', requestBudget(300));
    const error: unknown = await write().catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      status: 503,
      retryAfterSeconds: 1,
      detail: [{ type: 'storage_unavailable' }],
    });
    expect(await read(store, 'patient')).toBeNull();
    down = false;
    await write();
    expect(await read(store, 'patient')).toMatchObject({ id: 'patient' });
  });

  it('is answered with a 503 as well if it does not answer at all', async () => {
    await using proxy = await startFaultyProxy(await target(), () => 'hang');
    const slow = through(proxy.endpoint);
    for (const work of [
      () => writeCalls(slow, parseBatch([startOf({ id: 'hanging' })]), 'ada', requestBudget(200)),
      () => query(slow, {}, requestBudget(200)),
    ]) {
      await expect(work()).rejects.toMatchObject({ status: 503 });
    }
  });

  it('lets nothing continue after a refusal', async () => {
    let writes = 0;
    await using proxy = await startFaultyProxy(await target(), ({ operation }) =>
      operation === 'BatchWriteItem' && writes++ % 3 === 2 ? 'refuse' : 'none',
    );
    const projects = Array.from({ length: 12 }, (_, i) => `acme/shop-${i}`);
    const batch = projects
      .flatMap((projectId) => [...agentTraces({ projectId, conversations: 2, seed: 300 })])
      .flatMap(({ start, end }) => [
        { mode: 'start', req: { start } },
        { mode: 'end', req: { end } },
      ]);
    await expect(send(through(proxy.endpoint), batch)).rejects.toThrow('made by the test');
    const answered = proxy.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(proxy.requests.length).toBe(answered);
  });

  it('shows no call whose payload was not stored', async () => {
    // Payloads go first; everything after the first write fails.
    let writes = 0;
    await using proxy = await startFaultyProxy(await target(), ({ operation }) =>
      operation !== 'BatchGetItem' && writes++ > 0 ? 'throttle' : 'none',
    );
    const batch = batchOf(200);
    await expect(
      writeCalls(through(proxy.endpoint), parseBatch(batch), 'ada', requestBudget(500)),
    ).rejects.toThrow(ServiceError);
    expect(
      await query(store, { filter: { threadIds: ['support-200-0', 'support-200-1', 'support-200-2'] } }),
    ).toEqual([]);
  });
});

describe('a reader that disconnects', () => {
  it('cancels pending requests and starts no others', async () => {
    let hanging = false;
    await using proxy = await startFaultyProxy(await target(), () => (hanging ? 'hang' : 'none'));
    const calls = [...agentTraces({ projectId: project, conversations: 50, seed: 7 })];
    for (let i = 0; i < calls.length; i += 250) {
      await send(
        store,
        calls.slice(i, i + 250).flatMap(({ start, end }) => [
          { mode: 'start', req: { start } },
          { mode: 'end', req: { end } },
        ]),
      );
    }
    const aborting = new AbortController();
    const { calls: batches } = queryCalls(
      through(proxy.endpoint),
      queryOf(),
      requestBudget(30_000, aborting.signal),
    );
    await batches.next();
    hanging = true;
    const rest = Array.fromAsync(batches);
    setTimeout(() => aborting.abort(), 50);
    await expect(rest).rejects.toThrow('aborted');
    const requests = proxy.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(proxy.requests.length).toBe(requests);
  });
});
