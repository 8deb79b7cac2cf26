import { beforeAll, describe, expect, it } from 'vitest';
import { requestBudget, type Store } from '../../../../../core/foundations/storage/index.ts';
import { feedbackOn } from '../../../../../core/records/feedback/index.ts';
import { project } from '../../../../support/calls.ts';
import { callRef, createAll, createFeedbackStore, feedbackOf, noise } from '../../../../support/feedback.ts';

let store: Store;
beforeAll(async () => {
  store = await createFeedbackStore();
});

const ids = Array.from({ length: 100 }, (_, i) => `call-${i}`);

describe('feedback on calls', () => {
  it('takes one query for each call that has none, and reads nothing', async () => {
    const spent = requestBudget(60_000);
    expect(await feedbackOn(store, project, ids, spent)).toEqual(new Map());
    expect(spent.meter).toMatchObject({ readUnits: 0, requests: 100 });
  });

  it('asks for many calls at once', async () => {
    let [underWay, most] = [0, 0];
    store.table.client.middlewareStack.add(
      (next) => async (args) => {
        most = Math.max(most, ++underWay);
        try {
          return await next(args);
        } finally {
          underWay--;
        }
      },
      { step: 'initialize', name: 'underWay' },
    );
    await feedbackOn(store, project, ids, requestBudget(60_000));
    store.table.client.middlewareStack.remove('underWay');
    expect(most).toBe(32);
  });

  it('comes oldest first, by call, of this project and of the calls alone', async () => {
    const on = (svc_ref: string, text: string, more = {}) =>
      feedbackOf({ svc_ref, payload: { text, ...more } });
    const answers = await createAll(store, [
      on(callRef('call-3'), 'first'),
      on(callRef('call-7'), 'other'),
      on(callRef('call-3'), 'second', noise(5000)),
      on(callRef('call-33'), 'nearly the same id'),
      feedbackOf({ svc_ref: callRef('call-3'), project_id: 'acme/lab' }),
    ]);
    const spent = requestBudget(60_000);
    const found = await feedbackOn(store, project, ids, spent);
    const record = (i: number, callId: string) => {
      const { id, created_at, payload } = answers[i] ?? {};
      const rest = { feedback_type: 'note', svc_ref: callRef(callId), creator: null, svc_user_id: 'ada' };
      return { id, created_at, payload, ...rest };
    };
    expect(Object.fromEntries(found)).toEqual({
      'call-3': [record(0, 'call-3'), record(2, 'call-3')],
      'call-7': [record(1, 'call-7')],
      'call-33': [record(3, 'call-33')],
    });
    // One more for the payload that is too big for an index row.
    expect(spent.meter).toMatchObject({ requests: 101 });
  });
});
