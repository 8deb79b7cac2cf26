import { createHash, randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  putItems,
  requestBudget,
  type Store,
  scanTable,
} from '../../../../../core/foundations/storage/index.ts';
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
  refusal,
  replace,
  whereEqual,
} from '../../../../support/feedback.ts';

let store: Store;
beforeAll(async () => {
  store = await createFeedbackStore();
});

const byId = async (id: string) => (await ask(store, { query: whereEqual('id', id) }))[0];
const digest = 'A'.repeat(43);
const noiseText = (length: number): string => String(noise(length).noise).replaceAll(/[+/]/g, '_');

describe('a record', () => {
  it('is answered and kept as it was given, with the user of the key and the time of the server', async () => {
    const given = feedbackOf({
      id: 'whole',
      svc_ref: `svc:///acme/shop/object/answer:${digest}/attr/x/index/0`,
      feedback_type: 'réaction',
      payload: { emoji: '👍', nested: { list: [1, null, { a: false }] } },
      creator: 'Ada L.',
      annotation_ref: `svc:///other/project/object/spec:${digest}`,
      runnable_ref: `svc:///acme/shop/op/judge:${digest}`,
      call_ref: callRef('judgement'),
      trigger_ref: `svc:///acme/shop/object/trigger:${digest}`,
      svc_user_id: 'mallory',
    });
    const before = Date.now();
    const created = await create(store, given);
    expect(created).toEqual({
      id: 'whole',
      created_at: expect.any(String),
      svc_user_id: 'ada',
      payload: given.payload,
    });
    expect(created.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Date.parse(created.created_at)).toBeGreaterThanOrEqual(before);
    expect(await byId('whole')).toEqual({ ...given, created_at: created.created_at, svc_user_id: 'ada' });
  });

  it('has null for what was not given, and an id in order of time', async () => {
    const first = await create(store, { creator: null, id: null });
    const second = await create(store);
    expect(first.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
    expect(second.id > first.id).toBe(true);
    expect(second.created_at > first.created_at).toBe(true);
    expect(await byId(first.id)).toMatchObject({ creator: null, annotation_ref: null, trigger_ref: null });
  });

  it.each([
    ['as small as can be', {}],
    ['small', noise(550)],
    ['too big for a head', noise(5000)],
    ['big, but of a kind', { text: 'the same again. '.repeat(900) }],
    ['of 100 KB', noise(100_000)],
    ['too big for an item', noise(500_000)],
    ['of 1 MiB', { text: 'x'.repeat(1024 * 1024 - 11) }],
    ['of 1 MiB that does not repeat itself', noise(1024 * 1024 - 12)],
  ])('keeps a payload %s', async (_name, payload) => {
    const { id, payload: answered } = await create(store, { payload });
    expect(answered).toEqual(payload);
    expect((await byId(id))?.payload).toEqual(payload);
    const ofRef = await ask(store, { query: whereEqual('svc_ref', callRef('c')), fields: ['id', 'payload'] });
    expect(ofRef.find((record) => record.id === id)?.payload).toEqual(payload);
  });

  it('is refused with a payload of more than 1 MiB, and its place', async () => {
    const large = { text: 'é'.repeat(512 * 1024) };
    expect(await refusal(create(store, { payload: large }))).toMatchObject({
      status: 413,
      loc: ['body', 'batch', '0', 'payload'],
    });
    const { items } = await everythingIn(store);
    expect(await refusal(createAll(store, [feedbackOf(), feedbackOf({ payload: large })]))).toMatchObject({
      status: 413,
      loc: ['body', 'batch', '1', 'payload'],
    });
    expect(await everythingIn(store)).toMatchObject({ items });
  });

  it('expires with the retention, and its object in the bucket with it', async () => {
    const own = await createFeedbackStore({ retentionDays: 30 });
    await create(own, { payload: noise(500_000) });
    const { Items = [] } = await own.table.client.send(new ScanCommand({ TableName: own.table.name }));
    const days = (Number(Items[0]?.x?.N) - Date.now() / 1000) / 86_400;
    expect(days).toBeCloseTo(30, 2);
    const { objects } = await everythingIn(own);
    expect(objects).toEqual([expect.stringMatching(/^feedback\/expiring-30\/acme\/shop\//)]);
  });

  it('stays without one', async () => {
    const own = await createFeedbackStore();
    await create(own);
    const { Items = [] } = await own.table.client.send(new ScanCommand({ TableName: own.table.name }));
    expect(Items).toHaveLength(1);
    expect(Items[0]).not.toHaveProperty('x');
  });
});

describe('an id of the client', () => {
  it('gives the same answer to the same content, whoever sends it', async () => {
    const first = await create(store, { id: 'again', payload: { a: 1, b: { c: [2] } } });
    const again = await create(store, { id: 'again', payload: { b: { c: [2] }, a: 1 } }, { user: 'bob' });
    expect(again).toEqual(first);
    const [inBatch] = await createAll(store, [
      feedbackOf({ id: 'again', payload: first.payload }),
      feedbackOf(),
    ]);
    expect(inBatch).toEqual(first);
  });

  it.each([
    { payload: { text: 'other' } },
    { feedback_type: 'other' },
    { svc_ref: callRef('other') },
    { creator: 'other' },
    { call_ref: callRef('other') },
  ])('is refused with other content: %j', async (change) => {
    await create(store, { id: 'taken' });
    const other = { id: 'taken', ...change };
    const expected = { status: 409, loc: ['body', 'batch', '0', 'id'] };
    expect(await refusal(create(store, other))).toMatchObject(expected);
    const { items } = await everythingIn(store);
    expect(await refusal(createAll(store, [feedbackOf(other), feedbackOf()]))).toMatchObject(expected);
    expect(await everythingIn(store), 'nothing of the batch was written').toMatchObject({ items });
  });

  it('is one in each project', async () => {
    const there = await createAll(store, [
      feedbackOf({ id: 'both', payload: { in: 'shop' } }),
      feedbackOf({ id: 'both', payload: { in: 'lab' }, project_id: 'acme/lab' }),
    ]);
    expect(there.map(({ payload }) => payload)).toEqual([{ in: 'shop' }, { in: 'lab' }]);
    expect((await byId('both'))?.payload).toEqual({ in: 'shop' });
  });

  it('may be given again once its record was purged, or replaced', async () => {
    await create(store, { id: 'phoenix', payload: { life: 1 } });
    await purge(store, 'phoenix');
    await create(store, { id: 'phoenix', payload: { life: 2 } });
    await replace(store, 'phoenix', { id: 'ashes' });
    await create(store, { id: 'phoenix', payload: { life: 3 } });
    expect((await byId('phoenix'))?.payload).toEqual({ life: 3 });
    expect(await byId('ashes')).toBeDefined();
    await replace(store, 'ashes', { id: 'dust' });
    await replace(store, 'dust', { id: 'ashes' });
    expect(await byId('dust')).toBeUndefined();
  });

  it('can be any printable text', async () => {
    const ids = [
      'a/../b',
      'ümläut 😀',
      '"',
      'x'.repeat(256),
      '😀'.repeat(256),
      'AAAAAAAA-0000-7000-8000-000000000000',
    ];
    await createAll(
      store,
      ids.map((id) => feedbackOf({ id, payload: noise(2000) })),
    );
    for (const id of ids) expect(await byId(id)).toMatchObject({ id });
  });

  it('given at once by many with other contents belongs to one of them', async () => {
    const work = Array.from({ length: 8 }, (_, i) =>
      create(store, { id: 'raced', payload: { i, ...noise(500_000) } }),
    );
    const done = await Promise.allSettled(work);
    const winners = done.filter(({ status }) => status === 'fulfilled');
    expect(winners).toHaveLength(1);
    const stored = await byId('raced');
    expect(winners[0]).toMatchObject({ value: { payload: stored?.payload } });
    const hash = createHash('sha256').update('raced').digest('hex').slice(0, 32);
    const { objects } = await everythingIn(store);
    expect(
      objects.filter((key) => key.includes(hash)),
      'nothing is left of those that lost',
    ).toHaveLength(1);
  });

  it('given at once by many with the same content is one record', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(store, { id: 'chorus' })));
    expect(new Set(answers.map(({ created_at }) => created_at)).size).toBe(1);
    expect(await ask(store, { query: whereEqual('id', 'chorus') })).toHaveLength(1);
  });
});

describe('a batch', () => {
  it('of a thousand is answered in order, and read in order', async () => {
    const own = { ...store, table: (await createFeedbackStore()).table };
    const batch = Array.from({ length: 1000 }, (_, i) =>
      feedbackOf({ payload: { i }, ...(i % 3 && { id: `thousand-${i}` }) }),
    );
    const answers = await createAll(own, batch);
    expect(answers.map(({ payload }) => payload.i)).toEqual(batch.map((_, i) => i));
    const all = await ask(own, { fields: ['payload.i', 'id'] });
    expect(all).toEqual(answers.map(({ id }, i) => ({ id, payload: { i } })));
    expect(
      (
        await createAll(
          own,
          batch.filter(({ id }) => id),
        )
      ).map(({ created_at }) => created_at),
    ).toEqual(answers.filter((_, i) => batch[i]?.id).map(({ created_at }) => created_at));
  });

  it('of nothing is fine', async () => {
    expect(await createAll(store, [])).toEqual([]);
  });

  it('takes at most four write units a record, whatever refs it has', async () => {
    const ref = (kind: string) => `svc:///acme/shop/${kind}/a-name-of-some-length:${noiseText(43)}`;
    const own = await createFeedbackStore();
    await createAll(
      own,
      Array.from({ length: 50 }, (_, i) => {
        const payload = noise(i % 2 ? 580 : 10);
        expect(JSON.stringify(payload).length).toBeLessThan(600);
        return feedbackOf({
          ...{ id: randomUUID(), payload, creator: 'somebody', svc_ref: callRef(randomUUID()) },
          ...{ annotation_ref: ref('object'), runnable_ref: ref('op'), call_ref: callRef(randomUUID()) },
        });
      }),
    );
    // DynamoDB Local does not say what INSERTs take: as much as the same items put into a table
    // like it.
    const twin = await createFeedbackStore();
    const spent = requestBudget(60_000);
    for await (const items of scanTable(own.table)) await putItems(twin.table, items, spent);
    expect(spent.meter.writeUnits / 50).toBe(4);
  });
});
