import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import pMap from 'p-map';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { requestBudget, type Store } from '../../../../../core/foundations/storage/index.ts';
import { feedbackOn } from '../../../../../core/records/feedback/index.ts';
import { localCredentials } from '../../../../../local/stores.ts';
import { localRegion } from '../../../../../local/template/cloudformation.ts';
import { project } from '../../../../support/calls.ts';
import { type Fault, startFaultyProxy } from '../../../../support/faulty-proxy.ts';
import {
  ask,
  callRef,
  create,
  createAll,
  createFeedbackStore,
  everythingIn,
  feedbackOf,
  noise,
  purge,
  replace,
  whereEqual,
} from '../../../../support/feedback.ts';

let store: Store;
beforeAll(async () => {
  store = await createFeedbackStore();
});

const endpointOf = async (client: DynamoDBClient): Promise<string> => {
  const { hostname, port } = (await client.config.endpoint?.()) ?? { hostname: '', port: 0 };
  return `http://${hostname}:${port}`;
};

const client = { region: localRegion, credentials: localCredentials, maxAttempts: 1 };

/** The store, its table behind a proxy. */
const through = (endpoint: string): Store => ({
  ...store,
  table: { ...store.table, client: new DynamoDBClient({ ...client, endpoint }) },
});

/** The store, its bucket refusing to delete anything. */
const withoutDeletions = (): Store => {
  const s3 = new S3Client({ ...client, endpoint: inject('stores').s3 });
  s3.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === 'DeleteObjectCommand') throw new Error('made by the test');
        return next(args);
      },
    { step: 'initialize' },
  );
  return { ...store, bucket: { ...store.bucket, client: s3 } };
};

describe('storage that fails now and then', () => {
  const faults: Fault[] = ['throttle', 'error', 'reset', 'half', 'none', 'none'];

  it('loses nothing of what was answered, and does nothing twice', async () => {
    let seen = 0;
    const target = await endpointOf(store.table.client);
    await using proxy = await startFaultyProxy(target, () => faults[seen++ % faults.length] ?? 'none');
    const faulty = through(proxy.endpoint);
    const tryRound = async (round: number): Promise<void> => {
      const ref = callRef(`faulty-${round}`);
      const batch = Array.from({ length: 60 }, (_, n) =>
        feedbackOf({
          svc_ref: ref,
          payload: { n, ...(n === 30 && noise(500_000)) },
          ...(n % 2 && { id: `${round}-${n}` }),
        }),
      );
      const answers = await createAll(faulty, batch);
      const replaced = answers[7]?.id ?? '';
      const made = await replace(faulty, replaced, { svc_ref: ref, payload: { n: 60 }, id: `${round}-60` });
      expect(made.payload).toEqual({ n: 60 });
      await purge(faulty, answers[30]?.id ?? '', answers[31]?.id ?? '');
      const stored = await ask(faulty, { query: whereEqual('svc_ref', ref), fields: ['payload.n'] });
      const expected = Array.from({ length: 61 }, (_, n) => n).filter((n) => ![7, 30, 31].includes(n));
      expect(stored).toEqual(expected.map((n) => ({ payload: { n } })));
      const joined = await feedbackOn(faulty, project, [`faulty-${round}`], requestBudget(60_000));
      expect(joined.get(`faulty-${round}`)).toHaveLength(expected.length);
    };
    // Most of the time they wait until they try again. Six at once could each get the same fault
    // every time.
    await pMap(Array(6).keys(), tryRound, { concurrency: 5 });
    expect((await everythingIn(store)).objects).toEqual([]);
  });
});

describe('storage that fails for good', () => {
  it('lets a request be sent again that was given up in the middle', async () => {
    const target = await endpointOf(store.table.client);
    for (const refused of ['BatchGetItem', 'BatchExecuteStatement']) {
      await using proxy = await startFaultyProxy(target, ({ operation }) =>
        operation === refused ? 'refuse' : 'none',
      );
      const batch = [1, 2, 3].map((n) => feedbackOf({ id: `${refused}-${n}`, payload: { n } }));
      await expect(createAll(through(proxy.endpoint), batch)).rejects.toThrow();
      expect((await createAll(store, batch)).map(({ payload }) => payload)).toEqual([
        { n: 1 },
        { n: 2 },
        { n: 3 },
      ]);
    }
  });

  it('leaves a replacement undone, or done: what is left to be cleared away is, by the same request', async () => {
    const old = await create(store, { payload: noise(500_000) });
    const next = { id: 'cleared', payload: noise(500_000) };
    await expect(replace(withoutDeletions(), old.id, next)).rejects.toThrow('made by the test');
    expect(await ask(store, { query: whereEqual('id', old.id) })).toEqual([]);
    expect((await everythingIn(store)).objects).toHaveLength(2);
    expect(await replace(store, old.id, next)).toMatchObject({ id: 'cleared', payload: next.payload });
    expect((await everythingIn(store)).objects).toHaveLength(1);
  });

  it('leaves nothing behind a purge that is sent again', async () => {
    const { id } = await create(store, { payload: noise(500_000) });
    const before = (await everythingIn(store)).objects.length;
    await expect(purge(withoutDeletions(), id)).rejects.toThrow('made by the test');
    expect(await ask(store, { query: whereEqual('id', id) })).toEqual([]);
    await purge(store, id);
    expect((await everythingIn(store)).objects).toHaveLength(before - 1);
  });
});
