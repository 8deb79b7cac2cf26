import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Role } from '../../../../foundations/auth/index.ts';
import { roles } from '../../../../foundations/auth/roles.ts';
import { patienceMs } from '../../../support/run/pace.ts';
import { limitedKey } from '../../../support/service/keys.ts';
import { type SharedService, sharedService } from '../../../support/service/service.ts';
import { basic, type KeyMaker, keyMaker } from '../../security/credentials.ts';

let service: SharedService;
let keys: KeyMaker;
beforeAll(async () => {
  service = await sharedService();
  keys = keyMaker(service);
});
afterAll(() => keys[Symbol.dispose]());

let entities = 0;
/** An entity of this test alone. */
const newEntity = (): string => `people-${entities++}`;

interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what came.
  readonly body: any;
}

const ask = async (key: string, path: string, body: object): Promise<Answered> => {
  const answer = await service.post(path, body, { headers: { authorization: basic(key, 'api') } });
  return { status: answer.status, body: await answer.json() };
};

const idOf = (key: string): string => key.split('_')[1] ?? '';

const always = { start: '2020-01-01', end: '2100-01-01' };

const trail = async (key: string, place: object, more: object = {}): Promise<readonly object[]> =>
  (await ask(key, '/audit/query', { ...place, ...always, ...more })).body.records;

/** What a request is refused with. */
const refusal = ({ status, body }: Answered) => [status, body.detail?.[0]?.loc?.join('.')];

describe('a key that is made', () => {
  it('works at once for what it was granted, and for nothing else', async () => {
    const entity = newEntity();
    const admin = await keys.granted(`${entity}/*:admin`);
    const { status, body } = await ask(admin, '/keys/create', {
      user: 'ci',
      grants: [`${entity}/shop:write`, `${entity}/shop:write`, `${entity}/*:read`],
      expires_at: '2100-01-01T00:00:00Z',
    });
    expect([status, body]).toEqual([
      200,
      {
        key: expect.stringMatching(/^svc_[0-9a-z]{16}_[0-9a-f]{64}$/),
        key_id: idOf(body.key),
        user: 'ci',
        grants: [`${entity}/shop:write`, `${entity}/*:read`],
        created_at: expect.any(String),
        expires_at: '2100-01-01T00:00:00.000000Z',
        usd_per_day: null,
        usd_per_month: null,
      },
    ]);
    const write = (project: string) =>
      ask(body.key, '/obj/create', { obj: { project_id: project, object_id: 'o', val: 1 } });
    expect((await write(`${entity}/shop`)).status).toBe(200);
    expect((await write(`${entity}/other`)).status).toBe(403);
  });

  it('is listed without its secret, and revoked for good', async () => {
    const entity = newEntity();
    const project = `${entity}/shop`;
    const admin = await keys.granted(`${project}:admin`);
    const { body: made } = await ask(admin, '/keys/create', { user: 'ci', grants: [`${project}:read`] });
    const list = await ask(admin, '/keys/query', { project_id: project });
    const own = list.body.keys.filter(({ user }: { user: string }) => user === 'ci');
    expect(own).toEqual([
      {
        kind: 'key',
        key_id: made.key_id,
        user: 'ci',
        grants: [`${project}:read`],
        grants_elsewhere: false,
        state: 'active',
        created_at: made.created_at,
        expires_at: null,
        revoked_at: null,
        usd_per_day: null,
        usd_per_month: null,
        last_used_on: null,
        made_by_deployment: false,
        can_revoke: true,
      },
    ]);
    expect(JSON.stringify(list.body)).not.toContain(made.key.split('_')[2]);

    const revoked = await ask(admin, '/keys/revoke', { key_id: made.key_id });
    expect(revoked).toEqual({ status: 200, body: { key_id: made.key_id, revoked_at: expect.any(String) } });
    expect(await ask(admin, '/keys/revoke', { key_id: made.key_id })).toEqual(revoked);
    expect((await ask(made.key, '/calls/query_stats', { project_id: project })).status).toBe(401);
    expect(await trail(admin, { project_id: project }, { action: 'key' })).toMatchObject([
      { action: 'key.revoke', target: made.key_id, before: { user: 'ci', grants: ['read'] } },
      {
        action: 'key.create',
        target: made.key_id,
        project_id: project,
        entity,
        actor: { kind: 'key', user: 'bob', key_id: idOf(admin) },
        address: '127.0.0.1',
        after: { user: 'ci', grants: ['read'], expires_at: null, usd_per_day: null, usd_per_month: null },
      },
    ]);
  });

  it('has the day of its last use', async () => {
    const project = `${newEntity()}/shop`;
    const admin = await keys.granted(`${project}:admin`);
    const { body: made } = await ask(admin, '/keys/create', { user: 'ci', grants: [`${project}:read`] });
    await ask(made.key, '/calls/query_stats', { project_id: project });
    const today = new Date().toISOString().slice(0, 10);
    await vi.waitFor(
      async () => {
        const { body } = await ask(admin, '/keys/query', { project_id: project });
        const { last_used_on } = body.keys.find(({ key_id }: { key_id: string }) => key_id === made.key_id);
        expect(last_used_on >= today).toBe(true);
      },
      { timeout: patienceMs },
    );
  });

  it.each([
    ['no grant', { grants: [] }, 'body.grants'],
    ['a grant that is none', { grants: ['acme/shop:boss'] }, 'body.grants.0'],
    ['too many grants', { grants: Array.from({ length: 51 }, (_, i) => `acme/p${i}:read`) }, 'body.grants'],
    [
      'grants too long to hand on',
      { grants: Array.from({ length: 50 }, (_, i) => `acme/${'x'.repeat(100)}${i}:read`) },
      'body.grants',
    ],
    ['no user', { user: undefined }, 'body.user'],
    ['a user that Basic cannot name', { user: 'a:b' }, 'body.user'],
    ['an expiry in the past', { expires_at: '2020-01-01' }, 'body.expires_at'],
    ['a limit of nothing', { usd_per_day: 0 }, 'body.usd_per_day'],
    ['a limit where there is no setting', { usd_per_day: 5 }, 'body.usd_per_day'],
    ['a field that there is not', { role: 'admin' }, 'body.role'],
  ])('is refused with %s', async (_, fields, loc) => {
    const admin = await keys.granted('*:admin');
    const body = { user: 'ci', grants: ['acme/shop:read'], ...fields };
    expect(refusal(await ask(admin, '/keys/create', body))).toEqual([422, loc]);
  });
});

describe('nobody gives what they do not have', () => {
  const entity = 'people-give';
  const project = `${entity}/shop`;
  const wider = [`${entity}/*:read`, `${entity}/other:read`, '*:read', 'people-given/shop:report'];

  it.each(wider)('with admin of a project, not %s', async (grant) => {
    const admin = await keys.granted(`${project}:admin`);
    const body = { user: 'eve', grants: [`${project}:read`, grant] };
    expect(refusal(await ask(admin, '/keys/create', body))).toEqual([403, 'body.grants.1']);
  });

  const lesser: readonly Role[] = roles.filter((role) => role !== 'admin');
  it.each(lesser)('with %s alone, nothing at all', async (role) => {
    const key = await keys.granted(`${project}:${role} *:${role}`);
    const asked: readonly (readonly [path: string, body: object])[] = [
      ['/keys/create', { user: 'eve', grants: [`${project}:${role}`] }],
      ['/keys/create', { user: 'eve', grants: [`${project}:admin`] }],
      ['/keys/query', {}],
      ['/keys/query', { project_id: project }],
      ['/keys/revoke', { key_id: idOf(key) }],
      ['/members/set', { project_id: project, member: 'eve@example.com', grants: ['admin'] }],
      ['/members/set', { entity, member: 'group:eve', grants: [role] }],
      ['/members/remove', { project_id: project, member: 'ada@example.com' }],
      ['/members/query', { project_id: project }],
      ['/members/query', { entity }],
      ['/audit/query', { project_id: project, ...always }],
      ['/audit/query', { entity, ...always }],
      ['/audit/query', always],
    ];
    for (const [path, body] of asked)
      expect([path, (await ask(key, path, body)).status]).toEqual([path, 403]);
    const admin = await keys.granted(`${entity}/*:admin`);
    expect((await ask(admin, '/members/query', { entity })).body.members).toEqual([]);
    expect(await trail(admin, { entity })).toEqual([]);
  });

  it('with a spending limit, not the right to spend without one', async () => {
    const admin = await limitedKey(service, { usdPerDay: 5 }, { scope: '*', role: 'admin' });
    const make = (role: Role) => ask(admin, '/keys/create', { user: 'x', grants: [`${project}:${role}`] });
    expect((await make('write')).status).toBe(200);
    expect(refusal(await make('inference'))).toEqual([403, 'body.grants.0']);
    expect(refusal(await make('admin'))).toEqual([403, 'body.grants.0']);
    const member = { project_id: project, member: 'x@example.com', grants: ['inference'] };
    expect(refusal(await ask(admin, '/members/set', member))).toEqual([403, 'body.grants']);
  });
});

describe('a key that spans the projects of two administrators', () => {
  const spanning = async () => {
    const [ours, theirs] = [`${newEntity()}/shop`, `${newEntity()}/lab`] as const;
    const spanning = await keys.granted(`${ours}:read ${theirs}:write`);
    return { ours, theirs, id: idOf(spanning), admin: await keys.granted(`${ours}:admin`) };
  };

  it('is seen by either, without what is none of theirs', async () => {
    const { ours, theirs, id, admin } = await spanning();
    const { body } = await ask(admin, '/keys/query', {});
    const seen = body.keys.find(({ key_id }: { key_id: string }) => key_id === id);
    expect(seen).toMatchObject({ grants: [`${ours}:read`], grants_elsewhere: true, can_revoke: false });
    expect(JSON.stringify(body)).not.toContain(theirs);
  });

  it('is revoked by who administers all of it', async () => {
    const { ours, theirs, id, admin } = await spanning();
    expect(refusal(await ask(admin, '/keys/revoke', { key_id: id }))).toEqual([403, 'body.key_id']);
    const both = await keys.granted(`${ours}:admin ${theirs}:admin`);
    expect((await ask(both, '/keys/revoke', { key_id: id })).status).toBe(200);
    expect(await trail(admin, { project_id: ours })).toMatchObject([
      { target: id, before: { grants: ['read'] } },
    ]);
    const ofTheirs = await keys.granted(`${theirs}:admin`);
    expect(await trail(ofTheirs, { project_id: theirs })).toMatchObject([
      { target: id, before: { grants: ['write'] } },
    ]);
  });

  it('of an entity takes its administrator', async () => {
    const entity = newEntity();
    const id = idOf(await keys.granted(`${entity}/*:write`));
    const ofProject = await keys.granted(`${entity}/shop:admin`);
    const { body } = await ask(ofProject, '/keys/query', { project_id: `${entity}/shop` });
    expect(body.keys).toContainEqual(
      expect.objectContaining({ key_id: id, grants: [`${entity}/*:write`], can_revoke: false }),
    );
    expect((await ask(ofProject, '/keys/revoke', { key_id: id })).status).toBe(403);
  });
});

describe('revoking', () => {
  it('says of the keys of others what it says of none', async () => {
    const admin = await keys.granted(`${newEntity()}/shop:admin`);
    const theirs = await keys.granted(`${newEntity()}/lab:read`);
    const answer = await ask(admin, '/keys/revoke', { key_id: idOf(theirs) });
    expect(answer).toEqual(await ask(admin, '/keys/revoke', { key_id: '0'.repeat(16) }));
    expect(answer.status).toBe(404);
  });

  it('spares the key of the request, so that nobody locks themselves out by mistake', async () => {
    const admin = await keys.granted(`${newEntity()}/shop:admin`);
    expect(refusal(await ask(admin, '/keys/revoke', { key_id: idOf(admin) }))).toEqual([422, 'body.key_id']);
  });

  it('refuses a whole key, and does not repeat it', async () => {
    const admin = await keys.granted(`${newEntity()}/shop:admin`);
    const answer = await ask(admin, '/keys/revoke', { key_id: admin });
    expect(refusal(answer)).toEqual([422, 'body.key_id']);
    expect(JSON.stringify(answer.body)).not.toContain(admin);
  });
});

describe('members', () => {
  it('are set, listed and removed, on a project and on an entity', async () => {
    const entity = newEntity();
    const project = `${entity}/shop`;
    const admin = await keys.granted(`${entity}/*:admin`);
    const set = (place: object, member: string, grants: readonly Role[]) =>
      ask(admin, '/members/set', { ...place, member, grants });
    expect(await set({ project_id: project }, 'Ada@Example.com', ['write', 'read', 'write'])).toEqual({
      status: 200,
      body: { member: 'ada@example.com', grants: ['read', 'write'] },
    });
    await set({ entity }, 'group:Engineers', ['read']);
    expect((await ask(admin, '/members/query', { project_id: project })).body.members).toEqual([
      { member: 'ada@example.com', grants: ['read', 'write'], inherited: [] },
      {
        member: 'group:Engineers',
        grants: [],
        inherited: [{ resource: `${entity}/*`, role: 'read' }],
      },
    ]);
    expect((await ask(admin, '/members/query', { entity })).body.members).toEqual([
      { member: 'group:Engineers', grants: ['read'], inherited: [] },
    ]);
    expect(await ask(admin, '/members/remove', { project_id: project, member: 'ADA@example.com' })).toEqual({
      status: 200,
      body: { member: 'ada@example.com', grants: [] },
    });
    await ask(admin, '/members/remove', { project_id: project, member: 'ada@example.com' });
    expect(await trail(admin, { entity })).toMatchObject([
      { action: 'member.remove', target: 'ada@example.com', before: ['read', 'write'], after: [] },
      {
        action: 'member.set',
        target: 'group:Engineers',
        project_id: null,
        entity,
        before: [],
        after: ['read'],
      },
      { action: 'member.set', target: 'ada@example.com', project_id: project, after: ['read', 'write'] },
    ]);
  });

  it('of one project are no concern of the administrator of another', async () => {
    const entity = newEntity();
    const ours = await keys.granted(`${entity}/shop:admin`);
    const theirs = await keys.granted(`${entity}/lab:admin`);
    await ask(theirs, '/members/set', {
      project_id: `${entity}/lab`,
      member: 'zed@example.com',
      grants: ['read'],
    });
    const answers = await Promise.all([
      ask(ours, '/members/query', { project_id: `${entity}/shop` }),
      ask(ours, '/keys/query', {}),
      ask(ours, '/audit/query', { project_id: `${entity}/shop`, ...always }),
      ask(ours, '/members/set', {
        project_id: `${entity}/shop`,
        member: 'zed@example.com',
        grants: ['read'],
      }),
      ask(ours, '/members/remove', { project_id: `${entity}/shop`, member: 'zed@example.com' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(JSON.stringify(answers)).not.toContain('lab');
    for (const place of [{ project_id: `${entity}/lab` }, { entity }]) {
      expect((await ask(ours, '/members/query', place)).status).toBe(403);
      expect((await ask(ours, '/audit/query', { ...place, ...always })).status).toBe(403);
      const set = { ...place, member: 'eve@example.com', grants: ['read'] };
      expect((await ask(ours, '/members/set', set)).status).toBe(403);
      expect((await ask(ours, '/members/remove', { ...place, member: 'zed@example.com' })).status).toBe(403);
    }
    const { body } = await ask(theirs, '/members/query', { project_id: `${entity}/lab` });
    expect(body.members).toMatchObject([{ member: 'zed@example.com', grants: ['read'] }]);
  });

  it.each([
    ['nobody', { member: 'ada' }, 'body.member'],
    ['a list of people', { member: 'a@b.c,d@e.f' }, 'body.member'],
    ['no roles', { grants: [] }, 'body.grants'],
    ['another role', { grants: ['owner'] }, 'body.grants.0'],
    ['both places', { entity: 'acme' }, 'body.entity'],
    ['no place', { project_id: undefined }, 'body.project_id'],
    ['a place that is none', { project_id: undefined, entity: 'a/b' }, 'body.entity'],
    ['all entities', { project_id: undefined, entity: '*' }, 'body.entity'],
  ])('are refused with %s', async (_, fields, loc) => {
    const admin = await keys.granted('*:admin');
    const body = { project_id: 'acme/shop', member: 'ada@example.com', grants: ['read'], ...fields };
    expect(refusal(await ask(admin, '/members/set', body))).toEqual([422, loc]);
  });
});

describe('the audit trail', () => {
  const alert = {
    _type: 'Alert',
    name: 'Slow',
    metric: { metric: 'latency_ms', percentile: 95 },
    window_minutes: 60,
    direction: 'above',
    alert: 1000,
    tell: [],
    enabled: true,
  };

  it.each([
    ['our door', ''],
    ['Weave’s door', '/weave'],
  ])('has limits and alerts before and after, by %s', async (_, door) => {
    const project = `${newEntity()}/shop`;
    const admin = await keys.granted(`${project}:admin`);
    const save = (object_id: string, val: object) =>
      ask(admin, `${door}/obj/create`, { obj: { project_id: project, object_id, val } });
    const limits = (usd_per_day: number) => ({ _type: 'Limits', usd_per_day });
    expect((await save('limits', limits(5))).status).toBe(200);
    await save('limits', limits(5));
    await save('limits', limits(500));
    await save('slow', alert);
    await save('prompt', { text: 'of no interest' });
    const deletion = { project_id: project, object_id: 'limits' };
    expect((await ask(admin, `${door}/obj/delete`, deletion)).status).toBe(200);
    expect((await ask(admin, `${door}/obj/delete`, deletion)).status).toBeLessThan(500);
    const records = await trail(admin, { project_id: project });
    expect(records).toMatchObject([
      { action: 'limits.delete', target: 'limits', before: limits(500) },
      { action: 'alert.set', target: 'slow', after: alert },
      { action: 'limits.set', target: 'limits', before: limits(5), after: limits(500) },
      { action: 'limits.set', target: 'limits', after: limits(5) },
    ]);
    expect(records).toHaveLength(4);
  });

  it('has public links, which anybody with the role write makes and revokes', async () => {
    const project = `${newEntity()}/shop`;
    const [admin, writer] = await Promise.all([
      keys.granted(`${project}:admin`),
      keys.granted(`${project}:write`),
    ]);
    const link = (revoked: boolean) => ({
      _type: 'PublicLink',
      trace_id: 'trace-1',
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
      digest: 'A'.repeat(43),
      revoked,
    });
    const made = link(false);
    const revoked = link(true);
    for (const val of [made, revoked])
      await ask(writer, '/obj/create', { obj: { project_id: project, object_id: 'link-1', val } });
    await ask(writer, '/obj/delete', { project_id: project, object_id: 'link-1' });
    expect(await trail(admin, { project_id: project })).toMatchObject([
      { action: 'publiclink.delete', target: 'link-1', before: revoked },
      { action: 'publiclink.set', target: 'link-1', before: made, after: revoked },
      { action: 'publiclink.set', target: 'link-1', after: made },
    ]);
  });

  it('has a version that comes into force again when the latest is deleted', async () => {
    const project = `${newEntity()}/shop`;
    const admin = await keys.granted(`${project}:admin`);
    const save = (usd_per_day: number) =>
      ask(admin, '/obj/create', {
        obj: { project_id: project, object_id: 'limits', val: { _type: 'Limits', usd_per_day } },
      });
    await save(5);
    const { body } = await save(500);
    await ask(admin, '/obj/delete', { project_id: project, object_id: 'limits', digests: [body.digest] });
    expect(await trail(admin, { project_id: project }, { limit: 1 })).toMatchObject([
      { action: 'limits.delete', before: { usd_per_day: 500 }, after: { usd_per_day: 5 } },
    ]);
  });

  it('has deletions, purges and exports of a project as a whole, and no other requests', async () => {
    const project = `${newEntity()}/shop`;
    const writer = await keys.granted(`${project}:write`);
    const start = { project_id: project, id: 'c', op_name: 'op', started_at: '2026-10-01T00:00:00Z' };
    await ask(writer, '/call/start', { start });
    const byId = (id: string) => ({ $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } });
    const read = (more: object) =>
      service.post(
        '/calls/stream_query',
        { project_id: project, ...more },
        { headers: { authorization: basic(writer) } },
      );
    for (const more of [{ limit: 100 }, { filter: { op_names: ['op'] } }, { query: byId('c') }])
      expect((await read(more)).status).toBe(200);
    await (await read({})).text();
    await (await read({ limit: 1_000_000, filter: { trace_roots_only: false } })).text();
    await ask(writer, '/obj/create', { obj: { project_id: project, object_id: 'o', val: 1 } });
    await ask(writer, '/obj/delete', { project_id: project, object_id: 'o' });
    await ask(writer, '/obj/delete', { project_id: project, object_id: 'o' });
    await ask(writer, '/feedback/purge', { project_id: project, query: byId('f') });
    await ask(writer, '/cost/purge', {
      project_id: project,
      query: byId('01a0f4c2-c400-7128-b08d-6d80dcf805ba'),
    });
    await ask(writer, '/calls/delete', { project_id: project, call_ids: ['c'] });
    await ask(writer, '/calls/delete', { project_id: project, call_ids: [] });
    const admin = await keys.granted(`${project}:admin`);
    const actor = { kind: 'key', user: 'bob', key_id: idOf(writer) };
    expect(await trail(admin, { project_id: project }, { actor: 'bob' })).toMatchObject([
      { action: 'calls.delete', target: 'c', before: { count: 1, ids: ['c'] }, actor },
      { action: 'costs.purge', before: { count: 1 } },
      { action: 'feedback.purge', target: 'f' },
      { action: 'object.delete', target: 'o', before: { class: null, digests: [expect.any(String)] } },
      { action: 'project.export', target: project, after: { limit: 1_000_000 } },
      { action: 'project.export', target: project, after: { limit: null } },
    ]);
  });
});
