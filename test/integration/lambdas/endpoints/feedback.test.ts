import { beforeAll, describe, expect, it } from 'vitest';
import { type SharedService, sharedService } from '../../../support/service/service.ts';
import { makeStart } from '../../../support/values/calls.ts';
import {
  byIds,
  makeFeedback as feedbackOfShop,
  noise,
  whereEqual,
} from '../../../support/values/feedback.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const project_id = 'acme/feedback';
const callRef = (id: string): string => `svc:///${project_id}/call/${id}`;
const makeFeedback = (fields: object) => feedbackOfShop({ project_id, svc_ref: callRef('call'), ...fields });

/** POSTs, and gives status and parsed body. */
const call = async (path: string, body: unknown, authorization?: string) => {
  const answer = await service.post(path, body, authorization ? { headers: { authorization } } : {});
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

const query = async (body: object = {}) => {
  const { status, body: answer } = await call('/feedback/query', { project_id, ...body });
  expect(status).toBe(200);
  return answer.result as Record<string, unknown>[];
};

describe('feedback', () => {
  it('is created, queried, replaced and purged', async () => {
    const given = makeFeedback({ svc_ref: callRef('life'), payload: { stars: 3 }, svc_user_id: 'mallory' });
    const created = await call('/feedback/create', given);
    expect(created).toEqual({
      status: 200,
      body: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        created_at: expect.stringMatching(/\.\d{6}Z$/),
        svc_user_id: expect.not.stringContaining('mallory'),
        payload: { stars: 3 },
      },
    });
    const { id } = created.body;
    expect(await query({ query: whereEqual('svc_ref', callRef('life')) })).toMatchObject([
      { ...created.body, project_id },
    ]);

    const replacement = { ...given, id: 'better', payload: { stars: 5 }, feedback_id: id };
    const replaced = await call('/feedback/replace', replacement);
    expect(replaced).toMatchObject({ status: 200, body: { id: 'better', payload: { stars: 5 } } });
    expect(await call('/feedback/replace', replacement)).toEqual(replaced);
    expect(
      await query({ query: whereEqual('svc_ref', callRef('life')), fields: ['id', 'payload.stars'] }),
    ).toEqual([{ id: 'better', payload: { stars: 5 } }]);

    for (let i = 0; i < 2; i++)
      expect(await call('/feedback/purge', { project_id, query: byIds(['better', String(id)]) })).toEqual({
        status: 200,
        body: {},
      });
    expect(await query({ query: whereEqual('svc_ref', callRef('life')) })).toEqual([]);
  });

  it('is created by the thousand, answered in order', async () => {
    const batch = Array.from({ length: 1000 }, (_, n) =>
      makeFeedback({ feedback_type: 'thousand', payload: { n } }),
    );
    const { status, body } = await call('/feedback/batch/create', { batch });
    expect(status).toBe(200);
    expect((body.res as { payload: object }[]).map(({ payload }) => payload)).toEqual(
      batch.map(({ payload }) => payload),
    );
    const found = await query({ query: whereEqual('feedback_type', 'thousand'), fields: ['payload'] });
    expect(found).toEqual(batch.map(({ payload }) => ({ payload })));
    expect(await call('/feedback/batch/create', { batch: [] })).toEqual({ status: 200, body: { res: [] } });
  });

  it('accepts payloads of 1 MiB, and answers more than a buffered answer may hold', async () => {
    const payload = noise(1024 * 1024 - 13);
    for (let n = 0; n < 7; n++) {
      const body = makeFeedback({ feedback_type: 'large', payload });
      expect((await call('/feedback/create', body)).status).toBe(200);
    }
    const found = await query({ query: whereEqual('feedback_type', 'large') });
    expect(found.map((record) => record.payload)).toEqual(Array.from({ length: 7 }, () => payload));
    expect(
      await call('/feedback/create', makeFeedback({ payload: { text: 'x'.repeat(1024 * 1024) } })),
    ).toMatchObject({
      status: 413,
      body: { detail: [{ loc: ['body', 'payload'], type: 'too_large' }] },
    });
  });

  it('is included with its calls', async () => {
    const ids = ['with', 'without'];
    await call('/call/upsert_batch', {
      batch: ids.map((id) => makeStart({ project_id, id, trace_id: 'joined' })),
    });
    const batch = ['first', 'second'].map((text) =>
      makeFeedback({ svc_ref: callRef('with'), payload: { text }, creator: 'Ada' }),
    );
    const { res } = (await call('/feedback/batch/create', { batch })).body as { res: object[] };
    const records = res.map((created) => ({
      ...created,
      feedback_type: 'note',
      svc_ref: callRef('with'),
      creator: 'Ada',
    }));
    const asked = { project_id, filter: { trace_ids: ['joined'] }, include_feedback: true };
    const answer = await service.post('/calls/stream_query', asked, {
      headers: { accept: 'application/json' },
    });
    const calls = (await answer.json()) as { id: string; summary: { svc: { feedback: unknown } } }[];
    expect(Object.fromEntries(calls.map(({ id, summary }) => [id, summary.svc.feedback]))).toEqual({
      with: records,
      without: [],
    });
    const one = await call('/call/read', { project_id, id: 'with', include_feedback: true });
    expect(one.body.call).toMatchObject({ summary: { svc: { feedback: records } } });
    const rated = {
      ...asked,
      query: {
        $expr: { $eq: [{ $getField: 'summary.svc.feedback.1.payload.text' }, { $literal: 'second' }] },
      },
    };
    const found = await service.post('/calls/stream_query', rated, {
      headers: { accept: 'application/json' },
    });
    expect(((await found.json()) as { id: string }[]).map(({ id }) => id)).toEqual(['with']);
  });
});

describe('a request about feedback', () => {
  it('is refused with the position of each problem, and nothing is written', async () => {
    const batch = [makeFeedback({ feedback_type: 'refused' }), makeFeedback({ svc_ref: 'nothing' })];
    expect(await call('/feedback/batch/create', { batch })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'batch', '1', 'svc_ref'], type: 'value_error' }] },
    });
    expect(await query({ query: whereEqual('feedback_type', 'refused') })).toEqual([]);
  });

  it('is refused if an id exists already, or if what it removes does not', async () => {
    await call('/feedback/create', makeFeedback({ id: 'taken' }));
    expect(await call('/feedback/create', makeFeedback({ id: 'taken', payload: {} }))).toMatchObject({
      status: 409,
      body: { detail: [{ loc: ['body', 'id'], type: 'id_exists' }] },
    });
    expect(await call('/feedback/replace', makeFeedback({ feedback_id: 'nowhere' }))).toMatchObject({
      status: 404,
      body: { detail: [{ loc: ['body', 'feedback_id'], type: 'not_found' }] },
    });
  });

  it('is refused if it sorts by an unknown field, or purges by anything but ids', async () => {
    const sort_by = [{ field: 'stars', direction: 'asc' }];
    expect(await call('/feedback/query', { project_id, sort_by })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'sort_by', '0', 'field'] }] },
    });
    expect(await call('/feedback/purge', { project_id, query: whereEqual('creator', 'Ada') })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'query'] }] },
    });
  });
});
