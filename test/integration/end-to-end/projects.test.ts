import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Scope } from '../../../foundations/auth/index.ts';
import { deleteIt, fillProject, retain } from '../../support/endpoints/project.ts';
import type { Answer, Sender } from '../../support/service/in-process.ts';
import { keyWith } from '../../support/service/keys.ts';
import { overHttp } from '../../support/service/over-http.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { readEverything } from '../../support/stored/searched.ts';

let service: TestService;
let sender: Sender;
beforeAll(async () => {
  service = await startService();
  sender = overHttp(service);
});

const parsed = ({ text }: Answer) => JSON.parse(text) as { done: boolean; deleted: Record<string, number> };

const fill = async (project: string): Promise<void> => {
  for (const sent of fillProject(project)) {
    const answer = await sender.send(sent);
    expect(answer, `${sent.path} ${answer.text}`).toMatchObject({ status: 200 });
  }
};

/** Where something of a project lies, in tables and bucket. The audit trail names what was deleted. */
const findPlaces = async (name: RegExp): Promise<string[]> =>
  (await readEverything(service))
    .filter(({ where, text }) => !/audit/i.test(where) && name.test(text))
    .map(({ where }) => where);

const post = async (path: string, body: object, authorization?: string) => {
  const response = await service.post(path, body, authorization ? { headers: { authorization } } : {});
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const ofGone = /acme\/gone(?!2)/;

describe('POST /project/delete', () => {
  it('leaves nothing of a project, and all of others', async () => {
    for (const project of ['acme/gone', 'acme/gone2']) {
      await fill(project);
      await sender.send(retain(project, { calls_days: 3650 }));
      await sender.send({ path: '/project/retention', body: { project_id: project } });
    }
    expect((await findPlaces(ofGone)).length).toBeGreaterThan(20);
    const others = await findPlaces(/acme\/gone2/);
    const answer = await sender.send(deleteIt('acme/gone'));
    expect(answer.text).toMatch(/done/);
    expect(parsed(answer)).toMatchObject({
      done: true,
      deleted: { calls: 22, feedback: 2, object_versions: 4, tables: 1, files: 2, prices: 1 },
    });
    expect(await findPlaces(ofGone)).toEqual([]);
    expect((await findPlaces(/acme\/gone2/)).sort()).toEqual(others.sort());
  });

  it('is a 422 without the same project in confirm, and deletes nothing', async () => {
    await fill('acme/kept');
    const places = await findPlaces(/acme\/kept/);
    for (const confirm of ['acme/other', 'ACME/kept', ''])
      expect(await post('/project/delete', { project_id: 'acme/kept', confirm })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'confirm'], msg: 'should be acme/kept, to confirm' }] },
      });
    expect((await findPlaces(/acme\/kept/)).length).toBe(places.length);
  });

  it('is on the audit trail, with what was deleted', async () => {
    const asked = {
      project_id: 'acme/gone',
      start: new Date(Date.now() - 3_600_000).toISOString(),
      end: new Date(Date.now() + 60_000).toISOString(),
    };
    const { body } = await post('/audit/query', asked);
    const records = (body.records as { action: string; after?: unknown }[]).filter(
      ({ action }) => action === 'project.delete',
    );
    expect(records.map(({ after }) => after)).toEqual([
      { done: true, deleted: expect.objectContaining({ calls: 22 }) },
      { done: false },
    ]);
    expect(body.records).toContainEqual(
      expect.objectContaining({
        action: 'retention.set',
        target: 'retention',
        after: { _type: 'Retention', calls_days: 3650 },
      }),
    );
    expect(body.records).toContainEqual(
      expect.objectContaining({
        action: 'project.retain',
        target: 'acme/gone',
        after: { calls_days: 3650, feedback_days: null },
      }),
    );
  });

  it('is done at once where nothing is, and a project can begin anew', async () => {
    const again = { project_id: 'acme/gone', confirm: 'acme/gone' };
    const { body } = await post('/project/delete', again);
    expect(body).toMatchObject({ done: true, deleted: { calls: 0, feedback: 0, others: 0 } });
    await fill('acme/gone');
    expect((await post('/calls/query_stats', { project_id: 'acme/gone' })).body).toMatchObject({ count: 22 });
    expect((await post('/project/delete', again)).body).toMatchObject({ done: true, deleted: { calls: 22 } });
  });
});

describe('an object of class Retention', () => {
  const create = (val: object, object_id = 'retention', authorization?: string) =>
    post('/obj/create', { obj: { project_id: 'acme/brief', object_id, val } }, authorization);

  it.each([
    [{ calls_days: 0 }, 'calls_days'],
    [{ calls_days: 3651 }, 'calls_days'],
    [{ feedback_days: 1.5 }, 'feedback_days'],
    [{ feedback_days: 'forever' }, 'feedback_days'],
    [{ days: 1 }, 'days'],
  ])('is a 422 with %j', async (fields, place) => {
    expect(await create({ _type: 'Retention', ...fields })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'obj', 'val', place] }] },
    });
  });

  it('is a 422 under another name', async () => {
    expect(await create({ _type: 'Retention', calls_days: 1 }, 'other')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'obj', 'object_id'] }] },
    });
  });

  it('takes the role admin to make, cover and delete', async () => {
    const writer = await keyWith(service, { scope: 'acme/brief' as Scope, role: 'write' });
    const value = { _type: 'Retention', calls_days: 30 };
    expect(await create(value, 'retention', writer)).toMatchObject({ status: 403 });
    expect(await create(value)).toMatchObject({ status: 200 });
    expect(await create({ other: true }, 'retention', writer)).toMatchObject({ status: 403 });
    const deletion = { project_id: 'acme/brief', object_id: 'retention' };
    expect(await post('/obj/delete', deletion, writer)).toMatchObject({ status: 403 });
    for (const path of ['/project/retention', '/project/delete'])
      expect(await post(path, { project_id: 'acme/brief', confirm: 'acme/brief' }, writer)).toMatchObject({
        status: path === '/project/retention' ? 422 : 403,
      });
    expect(await post('/project/retention', { project_id: 'acme/brief' }, writer)).toMatchObject({
      status: 403,
    });
  });

  it('holds until it is deleted, whatever covers it', async () => {
    const project_id = 'acme/changed';
    const save = (val: object) => post('/obj/create', { obj: { project_id, object_id: 'retention', val } });
    const apply = async () => (await post('/project/retention', { project_id })).body;
    expect(await apply()).toMatchObject({ done: true });
    await save({ _type: 'Retention', calls_days: 30 });
    await save({ something: 'else' });
    // It was set less than 90 seconds ago.
    expect(await apply()).toMatchObject({ done: false });
    expect(await post('/obj/delete', { project_id, object_id: 'retention' })).toMatchObject({
      body: { num_deleted: 2 },
    });
    expect(await apply()).toMatchObject({ done: true });
  });

  it('is applied to what is stored, and counts and statistics agree with what is left', async () => {
    const project_id = 'acme/aged';
    const old = '2026-01-01T00:00:00Z';
    const recent = new Date(Date.now() - 60_000).toISOString();
    const batch = [old, old, recent].map((started_at, i) => ({
      mode: 'start',
      req: { start: { project_id, id: `c${i}`, op_name: 'op', started_at } },
    }));
    await post('/call/upsert_batch', { batch });
    const range = { start: '2025-12-31T00:00:00Z', end: new Date(Date.now() + 1000).toISOString() };
    const stats = async () => {
      const asked = {
        project_id,
        ...range,
        granularity: 86_400 * 31,
        call_metrics: [{ metric: 'call_count', aggregations: ['sum'] }],
      };
      const { body } = await post('/calls/stats', asked);
      return body;
    };
    await stats();
    // What the page shows before it sets a retention.
    const before = {
      $lt: [{ $getField: 'started_at' }, { $literal: new Date(Date.now() - 30 * 86_400_000).toISOString() }],
    };
    expect((await post('/calls/query_stats', { project_id, query: { $expr: before } })).body).toMatchObject({
      count: 2,
    });
    await create({ _type: 'Retention', calls_days: 30 });
    await post('/obj/create', {
      obj: { project_id, object_id: 'retention', val: { _type: 'Retention', calls_days: 30 } },
    });
    expect((await post('/project/retention', { project_id })).body).toMatchObject({
      done: false,
      applied: { calls: 3, calls_due: 2 },
    });
    await vi.waitFor(
      async () => expect((await post('/calls/query_stats', { project_id })).body).toMatchObject({ count: 1 }),
      { timeout: 30_000, interval: 500 },
    );
    expect(JSON.stringify(await stats())).toContain('1');
  });
});
