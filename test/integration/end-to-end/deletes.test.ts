import { beforeAll, describe, expect, it } from 'vitest';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { type SharedService, sharedService } from '../../support/service/service.ts';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

const projectId = 'acme/deletes' as ProjectId;
const start = (fields: object) => ({
  mode: 'start',
  req: { start: { project_id: projectId, op_name: 'op', started_at: '2026-10-01T00:00:00Z', ...fields } },
});
const end = (fields: object) => ({
  mode: 'end',
  req: { end: { project_id: projectId, ended_at: '2026-10-01T00:00:01Z', ...fields } },
});

const post = async (path: string, body: object, authorization?: string) => {
  const response = await service.post(path, body, authorization ? { headers: { authorization } } : {});
  return { status: response.status, body: (await response.json()) as Record<string, unknown>, response };
};
const report = async (...batch: object[]) => {
  expect((await post('/call/upsert_batch', { batch })).status).toBe(200);
};
const call = async (id: string) =>
  (await post('/call/read', { project_id: projectId, id })).body.call as Record<string, unknown> | null;
const remove = (...call_ids: string[]) => post('/calls/delete', { project_id: projectId, call_ids });

describe('POST /call/update', () => {
  it('sets and removes the display name of a call', async () => {
    await report(
      start({ id: 'named', op_name: 'svc:///acme/deletes/op/answer:v1', inputs: { q: 1 } }),
      end({ id: 'named' }),
    );
    const before = await call('named');
    const update = { project_id: projectId, call_id: 'named', display_name: 'Answer the customer' };
    for (const _ of ['once', 'again']) {
      expect(await post('/call/update', update)).toMatchObject({ status: 200, body: {} });
      expect(await call('named')).toMatchObject({
        display_name: 'Answer the customer',
        inputs: { q: 1 },
        summary: { svc: { trace_name: 'Answer the customer' } },
      });
    }
    await post('/call/update', { ...update, display_name: null });
    expect(await call('named')).toEqual(before);
  });

  it.each([
    [{}, 'missing', 'display_name'],
    [{ display_name: '' }, 'value_error', 'display_name'],
    [{ display_name: 7 }, 'string_type', 'display_name'],
    [{ display_name: 'x', op_name: 'y' }, 'extra_forbidden', 'op_name'],
  ])('is a 422 with %j', async (fields, type, place) => {
    const update = { project_id: projectId, call_id: 'named', ...fields };
    expect(await post('/call/update', update)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', place], type }] },
    });
  });
});

describe('POST /calls/delete', () => {
  it('deletes calls with everything below, and returns their number', async () => {
    await report(
      start({ id: 'root', trace_id: 't' }),
      start({ id: 'child', trace_id: 't', parent_id: 'root', inputs: { text: 'x'.repeat(2000) } }),
      end({ id: 'child', output: 'y' }),
      start({ id: 'kept', trace_id: 't', inputs: { text: 'z' } }),
    );
    const kept = await call('kept');
    expect(await remove('root')).toMatchObject({ status: 200, body: { num_deleted: 2 } });
    expect([await call('root'), await call('child'), await call('kept')]).toEqual([null, null, kept]);
    expect(await remove('root', 'child')).toMatchObject({ status: 200, body: { num_deleted: 0 } });
    expect(await remove()).toMatchObject({ status: 200, body: { num_deleted: 0 } });
  });

  it('deletes the feedback on the calls and on those below, and on no others', async () => {
    await report(
      start({ id: 'rated', trace_id: 'r' }),
      start({ id: 'below', trace_id: 'r', parent_id: 'rated' }),
      start({ id: 'beside', trace_id: 'r' }),
    );
    for (const id of ['rated', 'below', 'beside']) {
      const svc_ref = `svc:///${projectId}/call/${id}`;
      const record = { project_id: projectId, svc_ref, feedback_type: 'note', payload: { id } };
      expect((await post('/feedback/create', record)).status).toBe(200);
    }
    expect(await remove('rated')).toMatchObject({ status: 200, body: { num_deleted: 2 } });
    const { body } = await post('/feedback/query', { project_id: projectId, fields: ['payload.id'] });
    expect(body.result).toEqual([{ payload: { id: 'beside' } }]);
  });

  it('accepts up to 1,000 ids', async () => {
    const ids = Array.from({ length: 1001 }, (_, i) => `id-${i}`);
    await report(...ids.slice(0, 5).map((id) => start({ id })));
    const { status, body } = await remove(...ids);
    expect(status).toBe(422);
    expect(body).toMatchObject({
      detail: [
        {
          loc: ['body', 'call_ids'],
          msg: 'should be at most 1000 ids; send the rest in further requests',
          type: 'too_long',
        },
      ],
    });
    expect(await call('id-0')).not.toBeNull();
    expect(await remove(...ids.slice(1))).toMatchObject({ status: 200, body: { num_deleted: 4 } });
  });

  it('deletes a payload that is an object of its own', async () => {
    const text = Array.from({ length: 20_000 }, () => Math.random()).join('');
    await report(start({ id: 'huge', inputs: { text } }), end({ id: 'huge' }));
    expect(await call('huge')).toMatchObject({ inputs: { text } });
    expect(await remove('huge')).toMatchObject({ status: 200, body: { num_deleted: 1 } });
    expect(await call('huge')).toBeNull();
  });
});
