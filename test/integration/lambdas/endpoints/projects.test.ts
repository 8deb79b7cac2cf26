import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { patienceMs } from '../../../support/run/pace.ts';
import { startService, type TestService } from '../../../support/service/service.ts';
import { basic, type KeyMaker, keyMaker } from '../../security/credentials.ts';

let service: TestService;
let keys: KeyMaker;
beforeAll(async () => {
  service = await startService();
  keys = keyMaker(service);
});
afterAll(async () => {
  keys[Symbol.dispose]();
  await service.stop();
});

const me = (key: string): Promise<Response> =>
  fetch(`${service.url}/me`, { headers: { authorization: basic(key) } });

describe('GET /me', () => {
  it('says whose key it is, what it allows, and what answers, without its secret', async () => {
    const key = await keys.granted('acme/shop:read umbrella/*:write *:inference');
    const answer = await me(key);
    const text = await answer.text();
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(JSON.parse(text)).toEqual({
      kind: 'key',
      user: expect.any(String),
      key_id: key.split('_')[1],
      expires_at: null,
      grants: [
        { resource: 'acme/shop', role: 'read' },
        { resource: 'umbrella/*', role: 'write' },
        { resource: '*', role: 'inference' },
      ],
      service: { name: 'svc', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
    });
    expect(text).not.toContain(key.split('_')[2]);
  });

  it.each([
    ['none', async () => ''],
    ['an expired one', () => keys.expired()],
    ['a revoked one', () => keys.revoked()],
    ['one with another secret', () => keys.withOtherSecret()],
  ])('refuses %s', async (_, make) => {
    expect((await me(await make())).status).toBe(401);
  });

  it('refuses Bearer credentials', async () => {
    const headers = { authorization: `Bearer ${await keys.granted('*:read')}` };
    expect((await fetch(`${service.url}/me`, { headers })).status).toBe(401);
  });
});

describe('POST /projects/query', () => {
  const object = (project_id: string) => ({ obj: { project_id, object_id: 'o', val: 1 } });
  const record = (project_id: string) => ({
    project_id,
    svc_ref: `svc:///${project_id}/call/c`,
    feedback_type: 'note',
    payload: {},
  });
  const start = (project_id: string) => ({
    project_id,
    id: 'c',
    op_name: 'op',
    started_at: '2026-10-01T00:00:00Z',
  });
  const written: readonly (readonly [project: string, path: string, body: (project: string) => object])[] = [
    ['acme/started', '/call/start', (p) => ({ start: start(p) })],
    [
      'acme/ended',
      '/call/end',
      (p) => ({ end: { project_id: p, id: 'c', ended_at: '2026-10-01T00:00:00Z' } }),
    ],
    ['acme/batched', '/call/upsert_batch', (p) => ({ batch: [{ mode: 'start', req: { start: start(p) } }] })],
    ['acme-2/objects', '/obj/create', object],
    ['umbrella/feedback', '/feedback/create', record],
    ['umbrella/feedbacks', '/feedback/batch/create', (p) => ({ batch: [record(p)] })],
  ];
  const before = new Date().toISOString();
  beforeAll(async () => {
    for (const [project, path, body] of written)
      expect((await service.post(path, body(project))).status).toBe(200);
    // They read, price or refuse; none of it makes a project.
    await service.post('/calls/stream_query', { project_id: 'acme/read' });
    await service.post('/call/start', { start: { project_id: 'acme/refused' } });
    // A note is beside the answer.
    await vi.waitFor(async () => expect(await list()).toHaveLength(written.length), { timeout: patienceMs });
  });

  const list = async (body: object = {}, key?: string): Promise<string[]> => {
    const headers = key === undefined ? {} : { authorization: basic(key) };
    const answer = await service.post('/projects/query', body, { headers });
    const { projects } = (await answer.json()) as { projects: { project_id: string }[] };
    return projects.map(({ project_id }) => project_id);
  };
  const all = written.map(([project]) => project).sort();

  it('lists each project that was written to, by name, with the time of its first write', async () => {
    const { projects } = (await (await service.post('/projects/query', {})).json()) as {
      projects: { project_id: string; first_reported_at: string }[];
    };
    expect(projects.map(({ project_id }) => project_id)).toEqual(all);
    for (const { first_reported_at: at } of projects) {
      expect(at >= before).toBe(true);
      expect(at <= new Date().toISOString()).toBe(true);
    }
  });

  it.each([
    ['one project', 'acme/ended:read', ['acme/ended']],
    ['an entity, and not one whose name begins like it', 'acme/*:write', all.slice(1, 4)],
    ['several scopes that overlap', 'acme/*:read acme/ended:write umbrella/feedback:read', all.slice(1, 5)],
    ['everything', '*:read', all],
    ['nothing that exists', 'other/*:read', []],
    ['inference beside reading', 'acme/ended:read *:inference', ['acme/ended']],
  ])('lists what the key may read: %s', async (_, grants, expected) => {
    expect(await list({}, await keys.granted(grants))).toEqual(expected);
  });

  it('cuts the list by offset and limit', async () => {
    expect(await list({ offset: 1, limit: 2 })).toEqual(all.slice(1, 3));
    expect(await list({ offset: 4 })).toEqual(all.slice(4));
    expect(await list({ limit: 0 })).toEqual([]);
  });
});
