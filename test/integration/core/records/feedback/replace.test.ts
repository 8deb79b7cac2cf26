import { beforeAll, describe, expect, it } from 'vitest';
import { requestBudget, type Store } from '../../../../../core/foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../core/foundations/wire/index.ts';
import { feedbackOn } from '../../../../../core/records/feedback/index.ts';
import { project } from '../../../../support/calls.ts';
import {
  ask,
  callRef,
  create,
  createFeedbackStore,
  everythingIn,
  feedbackOf,
  noise,
  purge,
  refusal,
  replace,
  whereEqual,
} from '../../../../support/feedback.ts';
import { runs } from '../../../../support/sampling.ts';

let store: Store;
beforeAll(async () => {
  store = await createFeedbackStore();
});

const byId = async (id: string) => (await ask(store, { query: whereEqual('id', id) }))[0];

/** Every way to read, each giving the ids of what it reads on a call. */
const views = (callId: string, of = project): [name: string, read: () => Promise<unknown[]>][] => {
  const ref = callRef(callId, of);
  const svc_ref = whereEqual('svc_ref', ref);
  const asked = (body: object = {}) => ask(store, { project_id: of, ...body });
  const idsOf = (records: JsonObject[]) => records.map(({ id }) => id);
  const sorted = (field: string, direction: string) => ({ sort_by: [{ field, direction }] });
  const onCall = (records: JsonObject[]) => idsOf(records.filter((record) => record.svc_ref === ref));
  return [
    ['by ref', async () => idsOf(await asked({ query: svc_ref }))],
    ['the newest first', async () => idsOf(await asked({ query: svc_ref, ...sorted('created_at', 'desc') }))],
    ['in another order', async () => idsOf(await asked({ query: svc_ref, ...sorted('payload.n', 'asc') }))],
    ['in the project', async () => onCall(await asked())],
    ['in the project backwards', async () => onCall(await asked(sorted('created_at', 'desc')))],
    ['by type', async () => onCall(await asked({ query: whereEqual('feedback_type', callId) }))],
    ['without payloads', async () => idsOf(await asked({ query: svc_ref, fields: ['id'] }))],
    [
      'joined onto the call',
      async () =>
        ((await feedbackOn(store, of, [callId], requestBudget(60_000))).get(callId) ?? []).map(
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
        feedbackOf({ project_id, svc_ref, feedback_type: callId, payload: { n, ...noise(bytes) } });
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
