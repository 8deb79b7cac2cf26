import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localCredentials } from 'cdk-local-runner';
import { localRegion } from 'cdk-local-runner/template';
import { beforeAll, describe, expect, it } from 'vitest';
import { queryCalls } from '../../../../core/questions/query/index.ts';
import { agentTraces } from '../../../../examples/agent-traces.ts';
import { requestBudget, type Store } from '../../../../foundations/storage/index.ts';
import { type Fault, startFaultyProxy } from '../../../support/faults/faulty-proxy.ts';
import {
  createCallStore,
  makeEnd,
  makeQuery,
  makeStart,
  project,
  send,
} from '../../../support/values/calls.ts';

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

describe('the meter', () => {
  const batch = ['a', 'b', 'c', 'd'].flatMap((id) => [makeStart({ id }), makeEnd({ id })]);
  const countThrottled = async (chooseFault: (seen: number) => Fault): Promise<number> => {
    let seen = 0;
    await using proxy = await startFaultyProxy(await target(), () => chooseFault(seen++));
    const { meter } = await send(through(proxy.endpoint), batch);
    return meter.throttled;
  };

  // This client repeats nothing by itself; a function's does twice, which the meter does not see.
  it('counts requests that were throttled or partly processed', async () => {
    expect(await countThrottled(() => 'none')).toBe(0);
    expect(await countThrottled((seen) => (seen < 3 ? 'throttle' : 'none'))).toBe(3);
    expect(await countThrottled((seen) => (seen === 0 ? 'half' : 'none'))).toBe(1);
  });

  it('does not count other failures among them', async () => {
    expect(await countThrottled((seen) => (seen < 4 ? 'error' : 'none'))).toBe(0);
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
    const budget = requestBudget(30_000, aborting.signal);
    const batches = queryCalls(through(proxy.endpoint), makeQuery(), budget).json();
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
