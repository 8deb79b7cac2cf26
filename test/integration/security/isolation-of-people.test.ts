import { isDeepStrictEqual } from 'node:util';
import pMap from 'p-map';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isKeyed } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import type { Names } from '../../support/endpoints/fixture.ts';
import { getFixture } from '../../support/endpoints/index.ts';
import { filling, getNames, nothing } from '../../support/endpoints/tenants.ts';
import { type Answer, type Sent, toBytes } from '../../support/service/in-process.ts';
import { startIssuer, type TestIssuer } from '../../support/service/issuer.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { signInSettings } from '../../support/stack/every-setting.ts';
import { asking, seen } from './asking.ts';
import { basic, bearer, type KeyMaker, keyMaker } from './credentials.ts';

/*
 * What people learn of a project that they may not read: nothing. Keys are in isolation.test.ts.
 */

/** Theirs, of which nobody here is to learn anything. */
const theirs = 'umbrella/lab';
/** As long as theirs, and of nobody. */
const nobodys = 'umbrella/xyz';
/** Beside theirs, in the same entity. */
const sibling = 'umbrella/lob';

/** Who looks: what their groups are granted, and what they are themselves. */
const outsiders = {
  'an administrator of the project beside it, by a group': { group: `acme/*:admin ${sibling}:admin` },
  'who may report to the whole entity': { person: 'acme/*:admin umbrella/*:report' },
  'who reports by a group and may ask models': {
    person: 'acme/*:admin umbrella/*:inference',
    group: 'umbrella/*:report',
  },
} as const satisfies Record<string, { readonly person?: string; readonly group?: string }>;

type Outsider = keyof typeof outsiders;

const names = Object.keys(outsiders) as Outsider[];
const [admin, reporter] = names as [Outsider, Outsider];

let issuer: TestIssuer;
let service: TestService;
let keys: KeyMaker;
let them: Names;
let theirKey: string;
/** The token of each outsider. */
const tokens = new Map<Outsider, string>();

const sendAs = (authorization: string, { path, method, body, headers }: Sent): Promise<Response> =>
  service.post(path, undefined, {
    headers: { 'accept-encoding': 'identity', ...headers, authorization },
    ...(method && { method }),
    body: method === 'GET' ? null : new Uint8Array(toBytes({ path, body })),
  });

const send = (outsider: Outsider, sent: Sent): Promise<Response> =>
  sendAs(bearer(tokens.get(outsider) ?? ''), sent);

const succeed = async (authorization: string, sent: Sent): Promise<Answer> => {
  const answer = await sendAs(authorization, sent);
  const text = await answer.text();
  expect([sent.path, answer.status, text]).toEqual([sent.path, 200, expect.anything()]);
  return { status: answer.status, headers: {}, text, complete: true };
};

/** What lists of their project have, besides what {@link filling} makes. */
const objects: readonly (readonly [id: string, val: object])[] = [
  ['limits', { _type: 'Limits', usd_per_day: 7 }],
  ['retention', { _type: 'Retention', calls_days: 77 }],
];

beforeAll(async () => {
  issuer = await startIssuer();
  service = await startService({
    settings: { signIn: signInSettings, limits: true },
    signIn: issuer.settings,
  });
  keys = keyMaker(service);
  theirKey = await keys.granted(`${theirs}:admin`);
  const own = basic(theirKey);
  const answers = await pMap(filling(theirs), (sent) => succeed(own, sent), { concurrency: 1 });
  them = getNames(answers);
  for (const [object_id, val] of objects)
    await succeed(own, { path: '/obj/create', body: { obj: { project_id: theirs, object_id, val } } });
  const member = { project_id: theirs, member: 'secret@example.com', grants: ['read'] };
  await succeed(own, { path: '/members/set', body: member });
  for (const name of names) {
    const { person, group }: { person?: string; group?: string } = outsiders[name];
    const ofPerson = person ? await keys.member(person, 'person') : { email: `${group?.length}@example.com` };
    const ofGroup = group ? await keys.member(group, 'group') : {};
    const claims = { email: ofPerson.email, ...('groups' in ofGroup && { groups: ofGroup.groups }) };
    tokens.set(name, issuer.token({ claims: { ...claims, sub: name } }));
  }
}, 60_000);

afterAll(async () => {
  keys[Symbol.dispose]();
  await service.stop();
  await issuer[Symbol.asyncDispose]();
});

let projects = 0;
/** A project of ours that holds nothing yet, with a name as long as that of all others. */
const newProject = (): string => `acme/${String(projects++).padStart(4, '0')}`;

/** What a token may do is all that these look at. */
const ofAnyProject = [
  '/projects/query',
  '/keys/revoke',
  '/inference/v1/models',
  '/inference/v1/models/{id+}',
];
const keyed = routes.filter(isKeyed).filter(({ path }) => !ofAnyProject.includes(path));
const asked = keyed.flatMap((route) => asking(route).map((one) => ({ ...one, role: route.role })));

const ask = async (outsider: Outsider, { request }: (typeof asked)[number], project: string, of: Names) => {
  const masked = [project, theirs, ...Object.values(them), ...Object.values(nothing)];
  const answer = await seen(await send(outsider, request(project, of)), masked);
  // A key that is made is another one each time.
  return {
    ...answer,
    body: answer.body.replace(/svc_[\da-z]{16}_[\da-f]{64}|"key_id":"[\da-z]{16}"/g, '<key>'),
  };
};

describe.each(names)('%s', (outsider) => {
  const isReporter = outsider !== admin;
  const mayAsk = isReporter ? asked.filter(({ role }) => role !== 'report' && role !== 'inference') : asked;

  it.each(mayAsk)('learns nothing of it by $path, about $what', async (one) => {
    const inTheirs = await ask(outsider, one, theirs, them);
    expect(inTheirs).toEqual(await ask(outsider, one, nobodys, nothing));
    const { refusedInside } = getFixture(one.path);
    expect(inTheirs.status).toBe(refusedInside ? 200 : 403);
  });

  it('learns nothing by naming what is theirs in a project of their own', async () => {
    const differing: unknown[] = [];
    for (const one of asked.filter(({ scheme }) => scheme !== 'bearer')) {
      const ofTheirs = await ask(outsider, one, newProject(), them);
      const ofNothing = await ask(outsider, one, newProject(), nothing);
      if (!isDeepStrictEqual(ofTheirs, ofNothing) || ofTheirs.body.includes('secret'))
        differing.push([one.path, one.what, ofTheirs, ofNothing]);
    }
    expect(differing).toEqual([]);
  }, 120_000);
});

describe('who may report to it', () => {
  it('does not learn by reporting what is there', async () => {
    const reports = asked.filter(({ role, path }) => role === 'report' && path !== '/call/end');
    expect(reports.length).toBeGreaterThan(4);
    for (const one of reports) {
      const ofTheirs = await ask(reporter, one, theirs, them);
      expect([one.path, one.what, ofTheirs]).toEqual([
        one.path,
        one.what,
        await ask(reporter, one, theirs, nothing),
      ]);
      expect(ofTheirs.body).not.toContain('secret');
    }
  });
});

describe('the administrator of the project beside it', () => {
  const json = async (path: string, body: object) => {
    const answer = await send(admin, { path, body: body as never });
    return { status: answer.status, text: await answer.text() };
  };
  const always = { start: '2020-01-01', end: '2100-01-01' };

  it.each([
    ['the entity’s members', '/members/query', { entity: 'umbrella' }],
    ['the entity’s trail', '/audit/query', { entity: 'umbrella', ...always }],
    ['the trail of the service', '/audit/query', always],
    [
      'the entity’s rights',
      '/members/set',
      { entity: 'umbrella', member: 'x@example.com', grants: ['read'] },
    ],
  ])('sees nothing of %s', async (_, path, body) => {
    expect((await json(path, body)).status).toBe(403);
  });

  it('sees no key, no member, no project and no entry that is theirs alone', async () => {
    const ours = JSON.stringify([
      await json('/keys/query', {}),
      await json('/keys/query', { project_id: sibling }),
      await json('/members/query', { project_id: sibling }),
      await json('/audit/query', { project_id: sibling, ...always }),
      await json('/projects/query', {}),
    ]);
    for (const name of [theirs, theirKey.split('_')[1] ?? theirKey, 'secret@example.com'])
      expect(ours).not.toContain(name);
  });

  it('is told of their key as of one that is not there', async () => {
    const revoke = async (key_id: string) => {
      const { status, text } = await json('/keys/revoke', { key_id });
      return [status, text.replaceAll(key_id, '<key>')];
    };
    expect(await revoke(theirKey.split('_')[1] ?? '')).toEqual(await revoke('0000000000000000'));
  });

  it('does not learn of a member of theirs that the person is one already', async () => {
    const setAndSee = async (member: string) => {
      const set = await json('/members/set', { project_id: sibling, member, grants: ['read'] });
      const { members } = JSON.parse((await json('/members/query', { project_id: sibling })).text);
      const seenMember = members.find((one: { member: string }) => one.member === member);
      return JSON.stringify([set, seenMember]).replaceAll(member, '<member>');
    };
    expect(await setAndSee('secret@example.com')).toBe(await setAndSee('newcomer@example.com'));
  });
});
