import { beforeAll, describe, expect, it } from 'vitest';
import { requestBudget, type Store } from '../../../../../core/foundations/storage/index.ts';
import { deleteFeedbackOn } from '../../../../../core/records/feedback/index.ts';
import { project } from '../../../../support/calls.ts';
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
} from '../../../../support/feedback.ts';
import { crashed, stops } from '../../../../support/intercepted.ts';

let store: Store;
beforeAll(async () => {
  store = await createFeedbackStore();
});

describe('a purge', () => {
  it('deletes records and their payloads for good, wherever they lie, and nothing else', async () => {
    const sizes = [10, 3000, 500_000];
    const ids = (prefix: string) => sizes.map((size) => `${prefix}-${size}`);
    await createAll(
      store,
      ['goes', 'stays'].flatMap((prefix) =>
        sizes.map((size) => feedbackOf({ id: `${prefix}-${size}`, payload: noise(size) })),
      ),
    );
    await createAll(store, [feedbackOf({ id: 'goes-10', project_id: 'acme/lab' })]);
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
      ids.map((id) => feedbackOf({ id })),
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
    const on = (callId: string, fields: object = {}) => feedbackOf({ svc_ref: callRef(callId), ...fields });
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
      feedbackOf({ id, svc_ref: callRef('dies'), payload: noise(id === 'small' ? 10 : 500_000) }),
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
