import { beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../../../core/foundations/storage/index.ts';
import {
  ask,
  create,
  createAll,
  createFeedbackStore,
  everythingIn,
  feedbackOf,
  noise,
  purge,
  replace,
} from '../../../../support/feedback.ts';

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
