import { createHash, randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { HttpResponse } from '@smithy/core/protocols';
import { beforeAll, describe, expect, it } from 'vitest';
import { deleteFeedbackOn, FeedbackJoin } from '../../../../../core/records/feedback/index.ts';
import { putItems, requestBudget, type Store, scanTable } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { clientThrough, crashed, stops } from '../../../../support/faults/intercepted.ts';
import { runs } from '../../../../support/run/sampling.ts';
import { project } from '../../../../support/values/calls.ts';
import {
  ask,
  callRef,
  create,
  createAll,
  createFeedbackStore,
  everythingIn,
  makeFeedback,
  noise,
  purge,
  refusal,
  replace,
  whereEqual,
} from '../../../../support/values/feedback.ts';

let store: Store;
beforeAll(async () => {
  store = await createFeedbackStore();
});

const byId = async (id: string) => (await ask(store, { query: whereEqual('id', id) }))[0];

const digest = 'A'.repeat(43);
const noiseText = (length: number): string => String(noise(length).noise).replaceAll(/[+/]/g, '_');

describe('a record', () => {
  it('is answered and kept as it was given, with the user of the key and the time of the server', async () => {
    const given = makeFeedback({
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
    expect(await refusal(createAll(store, [makeFeedback(), makeFeedback({ payload: large })]))).toMatchObject(
      {
        status: 413,
        loc: ['body', 'batch', '1', 'payload'],
      },
    );
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
      makeFeedback({ id: 'again', payload: first.payload }),
      makeFeedback(),
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
    expect(await refusal(createAll(store, [makeFeedback(other), makeFeedback()]))).toMatchObject(expected);
    expect(await everythingIn(store), 'nothing of the batch was written').toMatchObject({ items });
  });

  it('is one in each project', async () => {
    const there = await createAll(store, [
      makeFeedback({ id: 'both', payload: { in: 'shop' } }),
      makeFeedback({ id: 'both', payload: { in: 'lab' }, project_id: 'acme/lab' }),
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
      ids.map((id) => makeFeedback({ id, payload: noise(2000) })),
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
      makeFeedback({ payload: { i }, ...(i % 3 && { id: `thousand-${i}` }) }),
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
        return makeFeedback({
          id: randomUUID(),
          payload,
          creator: 'somebody',
          svc_ref: callRef(randomUUID()),
          annotation_ref: ref('object'),
          runnable_ref: ref('op'),
          call_ref: callRef(randomUUID()),
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

/** Every way to read, each giving the ids of what it reads on a call. */
const views = (callId: string, viewed = project): [name: string, read: () => Promise<unknown[]>][] => {
  const ref = callRef(callId, viewed);
  const svc_ref = whereEqual('svc_ref', ref);
  const asked = (body: object = {}) => ask(store, { project_id: viewed, ...body });
  const getIds = (records: JsonObject[]) => records.map(({ id }) => id);
  const sorted = (field: string, direction: string) => ({ sort_by: [{ field, direction }] });
  const onCall = (records: JsonObject[]) => getIds(records.filter((record) => record.svc_ref === ref));
  return [
    ['by ref', async () => getIds(await asked({ query: svc_ref }))],
    [
      'the newest first',
      async () => getIds(await asked({ query: svc_ref, ...sorted('created_at', 'desc') })),
    ],
    ['in another order', async () => getIds(await asked({ query: svc_ref, ...sorted('payload.n', 'asc') }))],
    ['in the project', async () => onCall(await asked())],
    ['in the project backwards', async () => onCall(await asked(sorted('created_at', 'desc')))],
    ['by type', async () => onCall(await asked({ query: whereEqual('feedback_type', callId) }))],
    ['without payloads', async () => getIds(await asked({ query: svc_ref, fields: ['id'] }))],
    [
      'joined onto the call',
      async () =>
        ((await new FeedbackJoin(store, viewed, requestBudget(60_000)).on([callId])).get(callId) ?? []).map(
          (record) => (record as JsonObject).id,
        ),
    ],
  ];
};

describe('a replacement', () => {
  it('takes the old record away and stores the new one, under an id of the server', async () => {
    const old = await create(store, { payload: { text: 'old' } });
    const made = await replace(store, old.id, { payload: { text: 'new' } });
    expect(made).toMatchObject({ svc_user_id: 'bob', payload: { text: 'new' } });
    expect(made.id).not.toBe(old.id);
    expect(made.created_at > old.created_at).toBe(true);
    expect(await byId(old.id)).toBeUndefined();
    expect(await byId(made.id)).toMatchObject({
      id: made.id,
      payload: { text: 'new' },
      created_at: made.created_at,
    });
  });

  it('takes the id that it is given, and may be repeated', async () => {
    const { id } = await create(store, { svc_ref: callRef('repeated') });
    const fields = { id: 'given', payload: { stars: 5 }, svc_ref: callRef('repeated') };
    const made = await replace(store, id, fields);
    expect(made.id).toBe('given');
    expect(await replace(store, id, fields)).toEqual(made);
    for (const [name, read] of views('repeated'))
      if (name !== 'by type') expect(await read(), name).toEqual(['given']);
  });

  it('is refused where the old record is not there', async () => {
    const expected = { status: 404, loc: ['body', 'feedback_id'] };
    const { items } = await everythingIn(store);
    expect(await refusal(replace(store, 'nowhere', { id: 'lost' }))).toMatchObject(expected);
    expect(await refusal(replace(store, 'nowhere', { payload: noise(500_000) }))).toMatchObject(expected);
    expect(await everythingIn(store)).toMatchObject({ items });
    await create(store, { id: 'first' });
    await replace(store, 'first', { id: 'second' });
    expect(await refusal(replace(store, 'first', { id: 'third' }))).toMatchObject(expected);
    expect(await refusal(replace(store, 'first')), 'without an id nothing tells a repetition').toMatchObject(
      expected,
    );
    await create(store, { id: 'elsewhere', project_id: 'acme/lab' });
    expect(await refusal(replace(store, 'elsewhere'))).toMatchObject(expected);
  });

  it('is refused where the new id has other content, whether the old record is there or not', async () => {
    await create(store, { id: 'stays' });
    await create(store, { id: 'occupied', payload: { text: 'mine' } });
    expect(await refusal(replace(store, 'stays', { id: 'occupied' }))).toMatchObject({
      status: 409,
      loc: ['body', 'id'],
    });
    expect(await refusal(replace(store, 'nowhere', { id: 'occupied' }))).toMatchObject({ status: 404 });
    expect(await byId('stays')).toBeDefined();
    expect((await byId('occupied'))?.payload).toEqual({ text: 'mine' });
  });

  it('by a record that is there already with that content takes the old one away', async () => {
    const there = await create(store, { id: 'there', payload: { text: 'same' } });
    for (const payload of [{}, noise(500_000)]) {
      await create(store, { id: 'goes', payload });
      expect(await replace(store, 'goes', { id: 'there', payload: { text: 'same' } })).toEqual(there);
      expect(await byId('goes')).toBeUndefined();
    }
    expect(await byId('there')).toBeDefined();
  });

  it('under its own id keeps its place', async () => {
    const svc_ref = callRef('own');
    const first = await create(store, { id: 'own', svc_ref });
    const other = await create(store, { svc_ref });
    const made = await replace(store, 'own', { id: 'own', svc_ref, payload: { text: 'better' } });
    expect(made).toEqual({ ...first, svc_user_id: 'bob', payload: { text: 'better' } });
    expect(await replace(store, 'own', { id: 'own', svc_ref, payload: { text: 'better' } })).toEqual(made);
    expect(await ask(store, { query: whereEqual('svc_ref', svc_ref), fields: ['id', 'payload'] })).toEqual([
      { id: 'own', payload: { text: 'better' } },
      { id: other.id, payload: other.payload },
    ]);
  });

  it('may move a record to another ref and type', async () => {
    const { id } = await create(store, { svc_ref: callRef('from'), feedback_type: 'from' });
    await replace(store, id, { id: 'moved', svc_ref: callRef('to'), feedback_type: 'to' });
    for (const [name, read] of views('from')) expect(await read(), name).toEqual([]);
    for (const [name, read] of views('to')) expect(await read(), name).toEqual(['moved']);
  });

  it('leaves nothing of the old payload', async () => {
    const own = await createFeedbackStore();
    for (const payload of [{ text: 'secret-123' }, { text: 'secret-123', ...noise(3000) }, noise(500_000)]) {
      const { id } = await create(own, { payload });
      const next = await replace(own, id, { payload: noise(500_000) });
      expect((await everythingIn(own)).objects).toHaveLength(1);
      await replace(own, next.id, { id: next.id, payload: { text: 'small' } });
      expect((await everythingIn(own)).objects).toHaveLength(0);
      await purge(own, next.id);
    }
    expect(await ask(own)).toEqual([]);
  });
});

describe('replacements at once', () => {
  it('of one record: one wins, the others are told', async () => {
    for (let round = 0; round < runs(3, 20); round++) {
      const svc_ref = callRef(`contested-${round}`);
      const { id } = await create(store, { svc_ref });
      const work = Array.from({ length: 6 }, (_, n) =>
        replace(store, id, { svc_ref, payload: { n, ...noise(round % 2 ? 500_000 : 10) } }),
      );
      const done = await Promise.allSettled(work);
      const won = done.filter((result) => result.status === 'fulfilled');
      const lost = done.filter((result) => result.status === 'rejected');
      expect(won).toHaveLength(1);
      for (const { reason } of lost) expect(reason).toMatchObject({ status: 404 });
      const stored = await ask(store, { query: whereEqual('svc_ref', svc_ref) });
      expect(stored.map((record) => record.id)).toEqual([won[0]?.value.id]);
    }
    const ids = new Set((await ask(store, { fields: ['id'] })).map(({ id }) => id));
    expect((await everythingIn(store)).objects.length, 'no object of a loser is left').toBeLessThanOrEqual(
      ids.size,
    );
  });

  it('by one id: one wins, the others are told, and their records stay', async () => {
    const olds = await Promise.all(
      Array.from({ length: 5 }, () => create(store, { svc_ref: callRef('by-one') })),
    );
    const work = olds.map(({ id }, n) =>
      replace(store, id, { id: 'the-one', payload: { n }, svc_ref: callRef('by-one') }),
    );
    const done = await Promise.allSettled(work);
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of done)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 409 });
    expect(await ask(store, { query: whereEqual('svc_ref', callRef('by-one')) })).toHaveLength(5);
  });

  it.each(['small', 'beside the head', 'in the bucket'])(
    'are never seen half done by any reader, payloads %s',
    async (size) => {
      const bytes = { small: 10, 'beside the head': 3000, 'in the bucket': 500_000 }[size] ?? 0;
      const callId = `watched-${bytes}`;
      // Readers of a project read nothing of other tests.
      const project_id = `acme/${callId}` as ProjectId;
      const svc_ref = callRef(callId, project_id);
      const fields = (n: number) =>
        makeFeedback({ project_id, svc_ref, feedback_type: callId, payload: { n, ...noise(bytes) } });
      let { id } = await create(store, fields(0));
      let replacing = true;
      const seen: string[] = [];
      let reads = 0;
      const readers = views(callId, project_id).map(async ([name, read]) => {
        while (replacing) {
          const ids = await read();
          reads++;
          if (ids.length !== 1) seen.push(`${name}: ${JSON.stringify(ids)}`);
        }
      });
      const rounds = runs(bytes > 100_000 ? 5 : 10, 30);
      for (let n = 1; n <= rounds; n++) ({ id } = await replace(store, id, fields(n)));
      replacing = false;
      await Promise.all(readers);
      expect(seen).toEqual([]);
      expect(reads).toBeGreaterThan(rounds);
    },
  );
});

describe('a creation that only adds', () => {
  const createOnly = (own: Store, fields: object) => create(own, fields, { user: 'page', addsOnly: true });

  it('leaves what is stored under its id, and no object of its own', async () => {
    const own = await createFeedbackStore();
    await create(own, { id: 'f', payload: noise(500_000) });
    const before = [await everythingIn(own), await ask(own)];
    for (const payload of [noise(500_000), noise(10)])
      expect(await createOnly(own, { id: 'f', payload })).toMatchObject({
        id: 'f',
        svc_user_id: 'page',
        payload,
      });
    expect([await everythingIn(own), await ask(own)]).toEqual(before);
  });

  it('keeps its object if its own insertion is repeated', async () => {
    const own = await createFeedbackStore();
    const payload = noise(500_000);
    let inserted = 0;
    const client = clientThrough(async (operation, _, send) => {
      const answer = await send();
      // The store has taken it, and nobody heard of it.
      if (operation !== 'BatchExecuteStatement' || ++inserted > 1) return answer;
      return { response: new HttpResponse({ statusCode: 500, body: new Blob(['{}']).stream() }) };
    });
    await createOnly({ ...own, table: { ...own.table, client } }, { id: 'f', payload });
    expect(inserted).toBeGreaterThan(1);
    expect(await ask(own)).toMatchObject([{ id: 'f', payload }]);
  });
});

describe('a purge', () => {
  beforeAll(async () => {
    store = await createFeedbackStore();
  });

  it('deletes records and their payloads for good, wherever they lie, and nothing else', async () => {
    const sizes = [10, 3000, 500_000];
    const ids = (prefix: string) => sizes.map((size) => `${prefix}-${size}`);
    await createAll(
      store,
      ['goes', 'stays'].flatMap((prefix) =>
        sizes.map((size) => makeFeedback({ id: `${prefix}-${size}`, payload: noise(size) })),
      ),
    );
    await createAll(store, [makeFeedback({ id: 'goes-10', project_id: 'acme/lab' })]);
    await purge(store, ...ids('goes'));
    expect((await ask(store)).map(({ id }) => id)).toEqual(ids('stays'));
    expect(await ask(store, { project_id: 'acme/lab' })).toHaveLength(1);
    expect((await everythingIn(store)).objects).toHaveLength(1);
  });

  it('may be repeated, and of what is not there does nothing', async () => {
    await create(store, { id: 'once', payload: noise(500_000) });
    for (let i = 0; i < 2; i++) await purge(store, 'once', 'never');
    expect((await ask(store)).map(({ id }) => id)).not.toContain('once');
  });

  it('of a record that was replaced leaves the one in its place alone', async () => {
    const { id } = await create(store, { payload: noise(500_000) });
    await replace(store, id, { id: 'in-its-place' });
    await purge(store, id);
    expect((await ask(store)).map((record) => record.id)).toContain('in-its-place');
    await purge(store, 'in-its-place');
    expect((await ask(store)).map((record) => record.id)).not.toContain('in-its-place');
  });

  it('of a thousand records works', async () => {
    const own = await createFeedbackStore();
    const ids = Array.from({ length: 1000 }, (_, i) => `many-${i}`);
    await createAll(
      own,
      ids.map((id) => makeFeedback({ id })),
    );
    await purge(own, ...ids);
    expect(await everythingIn(own)).toEqual({ items: 0, objects: [] });
  });

  it('at the same time as replacements leaves a record or none, never a broken one', async () => {
    for (let round = 0; round < 10; round++) {
      const own = `round-${round}`;
      await create(store, { id: own, payload: noise(500_000), feedback_type: own });
      await Promise.allSettled([
        replace(store, own, { id: own, payload: noise(500_000), feedback_type: own }),
        purge(store, own),
        replace(store, own, { id: `${own}-next`, payload: noise(500_000), feedback_type: own }),
      ]);
      const left = (await ask(store)).filter((record) => record.feedback_type === own);
      expect(left.length).toBeLessThanOrEqual(1);
      await purge(store, ...left.map(({ id }) => String(id)));
    }
  });
});

describe('deleting the feedback on calls', () => {
  let store: Store;
  beforeAll(async () => {
    store = await createFeedbackStore();
  });

  const remove = (ids: readonly string[], from = store) =>
    deleteFeedbackOn(from, project, ids, requestBudget(60_000));
  const left = async () => (await ask(store)).map(({ id }) => id).sort();

  it('deletes the records whose ref is one of the calls, payloads included, and no others', async () => {
    const on = (callId: string, fields: object = {}) => makeFeedback({ svc_ref: callRef(callId), ...fields });
    await createAll(store, [
      ...[10, 3000, 500_000].map((size) => on('a', { id: `a-${size}`, payload: noise(size) })),
      on('b', { id: 'b-1' }),
      on('kept', { id: 'kept-1', call_ref: callRef('a'), payload: noise(500_000) }),
      on('ab', { id: 'kept-2' }),
      { ...on('a', { id: 'a-10' }), project_id: 'acme/lab', svc_ref: callRef('a', 'acme/lab') },
    ]);
    await remove(['a', 'b', 'nobody']);
    expect(await left()).toEqual(['kept-1', 'kept-2']);
    expect(await ask(store, { project_id: 'acme/lab' })).toHaveLength(1);
    expect((await everythingIn(store)).objects).toHaveLength(1);
    await remove(['kept', 'ab']);
    expect(await left()).toEqual([]);
  });

  it('deletes what replaced a record, and leaves it if it is on another call by now', async () => {
    const first = await create(store, { svc_ref: callRef('old'), payload: noise(500_000) });
    await replace(store, first.id, { id: 'second', svc_ref: callRef('old') });
    await create(store, { id: 'moved', svc_ref: callRef('old') });
    await replace(store, 'moved', { id: 'moved', svc_ref: callRef('new') });
    await remove(['old']);
    expect(await left()).toEqual(['moved']);
    await remove(['new']);
    expect((await everythingIn(store)).objects).toEqual([]);
  });

  it('is completed by doing it again if it dies before any of its commands', async () => {
    const batch = ['small', 'large'].map((id) =>
      makeFeedback({ id, svc_ref: callRef('dies'), payload: noise(id === 'small' ? 10 : 500_000) }),
    );
    await createAll(store, batch);
    for (const at of await stops(store, 'feedback', (watched) => remove(['dies'], watched))) {
      await createAll(store, batch);
      await crashed(store, at, (dying) => remove(['dies'], dying));
      await remove(['dies']);
      expect(await left(), `died before command ${at}`).toEqual([]);
      expect((await everythingIn(store)).objects, `died before command ${at}`).toEqual([]);
    }
  });
});
