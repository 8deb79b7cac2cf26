import { beforeAll, describe, expect, it } from 'vitest';
import { FeedbackJoin } from '../../../../../core/records/feedback/index.ts';
import { type RequestBudget, requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import { clientThrough } from '../../../../support/faults/intercepted.ts';
import { project } from '../../../../support/values/calls.ts';
import {
  callRef,
  createAll,
  createFeedbackStore,
  makeFeedback,
  noise,
  purge,
  replace,
} from '../../../../support/values/feedback.ts';

/** Few enough to be looked up, and enough to have the project read. */
const few = 64;
const many = 100;
const makeIds = (count: number) => Array.from({ length: count }, (_, i) => `call-${i}`);

const join = (store: Store, ids: readonly string[], budget: RequestBudget = requestBudget(60_000)) =>
  new FeedbackJoin(store, project, budget).on(ids);

/** What the calls have if each is asked for by itself. */
const oneByOne = async (store: Store, ids: readonly string[]) => {
  const found = await Promise.all(ids.map((id) => join(store, [id])));
  return new Map(found.flatMap((records) => [...records]));
};

describe('feedback on calls, without any in the project', () => {
  let store: Store;
  beforeAll(async () => {
    store = await createFeedbackStore({ shards: [2] });
  });

  it('takes one query of half a unit for each of few calls', async () => {
    const spent = requestBudget(60_000);
    expect(await join(store, makeIds(few), spent)).toEqual(new Map());
    expect(spent.meter.requests).toBe(few);
    // DynamoDB Local counts nothing for what is not there.
    expect([0, few / 2]).toContain(spent.meter.readUnits);
  });

  it('takes one query for each shard for many calls, and none for those that follow', async () => {
    const spent = requestBudget(60_000);
    const feedback = new FeedbackJoin(store, project, spent);
    expect(await feedback.on(makeIds(many))).toEqual(new Map());
    expect(await feedback.on(['another'])).toEqual(new Map());
    expect(spent.meter.requests).toBe(2);
  });

  it('asks for many calls at once', async () => {
    let underWay = 0;
    let most = 0;
    const client = clientThrough(async (_operation, _input, send) => {
      most = Math.max(most, ++underWay);
      return send().finally(() => underWay--);
    });
    await join({ ...store, table: { ...store.table, client } }, makeIds(few));
    expect(most).toBe(32);
  });
});

describe('feedback on many calls', () => {
  const on = (callId: string, text: string, more = {}) =>
    makeFeedback({ svc_ref: callRef(callId), payload: { text }, ...more });

  it('comes oldest first, by call, of this project and of the calls alone', async () => {
    const store = await createFeedbackStore({ shards: [2] });
    const answers = await createAll(store, [
      on('call-3', 'first'),
      on('call-7', 'other'),
      on('call-3', 'second', { payload: { text: 'second', ...noise(5000) } }),
      on('call-33', 'nearly the same id'),
      on('elsewhere', 'not asked for'),
      on('call-3', 'of another project', { project_id: 'acme/lab' }),
    ]);
    const record = (i: number, callId: string) => {
      const { id, created_at, payload } = answers[i] ?? {};
      const rest = { feedback_type: 'note', svc_ref: callRef(callId), creator: null, svc_user_id: 'ada' };
      const refs = { annotation_ref: null, runnable_ref: null, call_ref: null, trigger_ref: null };
      return { id, created_at, payload, ...rest, ...refs };
    };
    const spent = requestBudget(60_000);
    expect(Object.fromEntries(await join(store, makeIds(many), spent))).toEqual({
      'call-3': [record(0, 'call-3'), record(2, 'call-3')],
      'call-7': [record(1, 'call-7')],
      'call-33': [record(3, 'call-33')],
    });
    // Two shards, and the call with a payload that is too big for an index row.
    expect(spent.meter.requests).toBe(4);
    expect(await join(store, makeIds(few))).toEqual(await join(store, makeIds(many)));
  });

  it('is the same as one by one where records were replaced, moved to other calls and purged', async () => {
    const store = await createFeedbackStore({ shards: [2] });
    const ids = makeIds(many);
    await createAll(
      store,
      Array.from({ length: 150 }, (_, i) => on(`call-${i % 40}`, `text ${i}`, { id: `f-${i}` })),
    );
    for (let i = 0; i < 30; i++)
      await replace(store, `f-${i}`, {
        id: `r-${i}`,
        payload: { i },
        svc_ref: callRef(`call-${(7 * i) % 60}`),
      });
    await replace(store, 'r-3', { id: 's-3', payload: noise(5000), svc_ref: callRef('call-90') });
    await purge(store, 'f-41', 'r-7');
    const found = await join(store, ids);
    expect(found).toEqual(await oneByOne(store, ids));
    expect([...found.values()].flat()).toHaveLength(148);
  });

  it('is looked up where the project has much more, and the next query knows', async () => {
    const store = await createFeedbackStore({ shards: [2] });
    await createAll(store, [on('call-8', 'the oldest')]);
    await createAll(
      store,
      Array.from({ length: 600 }, (_, i) => on(`other-${i}`, 'x', { payload: noise(500) })),
    );
    await createAll(store, [on('call-8', 'the newest')]);
    const first = requestBudget(60_000);
    const found = await join(store, makeIds(many), first);
    // The oldest was read before the others were too many, and the newest was not.
    expect([...found].map(([id, records]) => [id, records.length])).toEqual([['call-8', 2]]);
    // A quarter of what the calls take, and a page of each shard.
    expect(first.meter.requests).toBeGreaterThan(many);
    expect(first.meter.requests).toBeLessThan(1.1 * many);
    const second = requestBudget(60_000);
    expect([...(await join(store, makeIds(many), second)).keys()]).toEqual(['call-8']);
    expect(second.meter.requests).toBe(many);
  });

  it('is looked up until enough calls have asked for the project to be read', async () => {
    const store = await createFeedbackStore({ shards: [2] });
    await createAll(
      store,
      Array.from({ length: 600 }, (_, i) => on(`call-${i}`, 'x', { payload: noise(500) })),
    );
    const spent = requestBudget(60_000);
    const feedback = new FeedbackJoin(store, project, spent);
    const ids = makeIds(1000);
    const batches = [ids.slice(0, 100), ids.slice(100, 500), ids.slice(500)];
    const requests: number[] = [];
    let found = 0;
    // Two at a time, as a query reads ahead.
    for (const batch of batches) {
      const before = spent.meter.requests;
      const halves = [batch.slice(0, batch.length / 2), batch.slice(batch.length / 2)];
      for (const half of await Promise.all(halves.map((some) => feedback.on(some)))) found += half.size;
      requests.push(spent.meter.requests - before);
    }
    expect(found).toBe(600);
    expect(requests[0]).toBeGreaterThan(100);
    expect(requests[2]).toBe(0);
    // However many calls ask, no more is read than there is room for.
    const bounded = requestBudget(60_000);
    await new FeedbackJoin(store, project, bounded, 50_000).on(ids);
    expect(bounded.meter.requests).toBeGreaterThanOrEqual(1000);
  });
});
