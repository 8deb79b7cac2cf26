import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maxSharedBytes, maxSharedCalls } from '../../../../api/shared/sharing.ts';
import { allowLinks, inDays, linkValue, makeLink, tokenOf } from '../../../support/endpoints/sharing.ts';
import { newName } from '../../../support/run/new-name.ts';
import type { Sent } from '../../../support/service/in-process.ts';
import { type SharedService, sharedService, throughWeave } from '../../../support/service/service.ts';
import { basic, type KeyMaker, keyMaker } from '../../security/credentials.ts';

let service: SharedService;
let keys: KeyMaker;
beforeAll(async () => {
  service = await sharedService();
  keys = keyMaker(service);
});
afterAll(() => keys[Symbol.dispose]());

/** Sends what has to succeed. */
const done = async ({ path, body }: Sent): Promise<void> => {
  const answer = await service.post(path, body);
  expect([path, answer.status, answer.ok ? '' : await answer.text()]).toEqual([path, 200, '']);
};

/** Sends a request with a key of these grants, and gives the status. */
const statusWith = async (grants: string, { path, body }: Sent, to = service): Promise<number> => {
  const authorization = basic(await keys.granted(grants));
  return (await to.post(path, body, { headers: { authorization } })).status;
};

/** Asks for a trace as anybody does: without a key. */
const ask = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${service.url}/shared/read`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

interface Line {
  readonly shared?: { readonly trace_id: string; readonly expires_at: string };
  readonly call?: { readonly id: string } & Readonly<Record<string, unknown>>;
  readonly end?: { readonly complete: boolean };
}

const linesOf = async (token: string): Promise<Line[]> => {
  const answer = await ask({ token });
  expect(answer.status).toBe(200);
  const lines = (await answer.text()).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
};

const callsOf = async (token: string) => (await linesOf(token)).flatMap(({ call }) => (call ? [call] : []));

/** The one answer to tokens that lead nowhere, without its request's id. */
const nowhere = {
  status: 404,
  headers: {
    'cache-control': 'no-store',
    'content-type': 'application/json',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
  },
  body: {
    detail: [
      {
        loc: ['body', 'token'],
        msg: 'this link does not work: it has expired, was revoked, or never was',
        type: 'not_found',
      },
    ],
  },
};

/** What is seen of an answer, but for what differs between any two. */
const seen = async (token: string) => {
  const answer = await ask({ token });
  const transport = /^(date|connection|keep-alive|content-length|transfer-encoding|x-request-id|x-amzn-.*)$/;
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !transport.test(name)));
  return { status: answer.status, headers, body: answer.ok ? 'a trace' : await answer.json() };
};

const call = (project: string, id: string, fields: object = {}, end: object = {}): object[] => [
  {
    mode: 'start',
    req: {
      start: {
        project_id: project,
        id,
        trace_id: 'trace',
        op_name: 'answer',
        started_at: '2026-10-01T00:00:00Z',
        inputs: { q: `question ${id}` },
        ...fields,
      },
    },
  },
  {
    mode: 'end',
    req: {
      end: { project_id: project, id, ended_at: '2026-10-01T00:00:01Z', output: `answer ${id}`, ...end },
    },
  },
];

const report = (...batch: readonly object[]): Sent => ({ path: '/call/upsert_batch', body: { batch } });

/** A project with a trace of two calls that allows links, and one to the trace. */
const shared = async (): Promise<{ readonly project: string; readonly token: string }> => {
  const project = newName('acme/shared');
  const usage = { 'gpt-4o': { prompt_tokens: 10, completion_tokens: 5 } };
  const below = { parent_id: 'root', started_at: '2026-10-01T00:00:00.5Z' };
  await done(report(...call(project, 'root'), ...call(project, 'below', below, { summary: { usage } })));
  const note = {
    project_id: project,
    svc_ref: `svc:///${project}/call/root`,
    feedback_type: 'note',
    payload: { note: 'for colleagues' },
  };
  await done({ path: '/feedback/create', body: note });
  await done(allowLinks(project));
  await done(makeLink(project, 'link', 'trace'));
  return { project, token: tokenOf(project, 'link') };
};

describe('a public link', () => {
  it('shows the calls of its trace in order, with costs, to anybody', async () => {
    const { project, token } = await shared();
    const [head, ...rest] = await linesOf(token);
    expect(head).toEqual({ shared: { trace_id: 'trace', expires_at: expect.stringMatching(/^20/) } });
    expect(rest.at(-1)).toEqual({ end: { complete: true } });
    expect(rest.slice(0, -1).map(({ call }) => call)).toEqual([
      expect.objectContaining({ id: 'root', project_id: project, inputs: { q: 'question root' } }),
      expect.objectContaining({
        id: 'below',
        output: 'answer below',
        summary: expect.objectContaining({
          svc: expect.objectContaining({ costs: { 'gpt-4o': expect.anything() } }),
        }),
      }),
    ]);
  });

  it('shows no feedback, no users of keys and no sizes', async () => {
    const { token } = await shared();
    const text = JSON.stringify(await linesOf(token));
    for (const hidden of ['for colleagues', 'feedback', 'svc_user_id', 'local', 'storage_size'])
      expect(text).not.toContain(hidden);
  });

  it('is answered compressed, for no cache, search engine or other origin', async () => {
    const { token } = await shared();
    const answer = await ask({ token }, { origin: 'https://evil.example', 'accept-encoding': 'gzip' });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      ...nowhere.headers,
      'content-type': 'application/jsonl',
      'content-encoding': 'gzip',
    });
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    const plain = await ask({ token }, { 'accept-encoding': 'identity' });
    expect([plain.status, plain.headers.get('cache-control')]).toEqual([406, 'no-store']);
  });

  it('passes on HTML and odd characters as they are', async () => {
    const { project, token } = await shared();
    const text = '<script>alert(1)</script>\u2028\u0085"\\ 日本 \ud83d\ude00';
    await done(report(...call(project, 'html', { inputs: { q: text } }, { output: text })));
    const found = (await callsOf(token)).find(({ id }) => id === 'html');
    expect(found).toMatchObject({ inputs: { q: text }, output: text });
  });

  it('names its problems if it has no token', async () => {
    for (const [body, status] of [
      [{}, 422],
      [{ token: 1 }, 422],
      [{ token: 'x'.repeat(1501) }, 422],
      [{ token: '', project_id: 'acme/shop' }, 422],
      [[], 422],
    ] as const)
      expect([body, (await ask(body)).status]).toEqual([body, status]);
  });
});

describe('what leads nowhere', () => {
  /** Changes that end a link, or tokens that are none; each gives the token that is then tried. */
  const ways: Readonly<Record<string, (project: string, token: string) => Promise<string> | string>> = {
    'a guessed secret': (project) => tokenOf(project, 'link', randomBytes(32)),
    'the digest as the secret': (project) =>
      tokenOf(project, 'link', Buffer.from(linkValue('link', 'trace').digest, 'base64url')),
    'no secret': (project) => tokenOf(project, 'link', Buffer.alloc(0)),
    'a link that never was': (project) => tokenOf(project, 'other'),
    'a project that never was': () => tokenOf('acme/never', 'link'),
    'an object of another class': async (project) => {
      const obj = {
        project_id: project,
        object_id: 'plain',
        val: linkValue('plain', 'trace', { _type: 'Link' }),
      };
      await done({ path: '/obj/create', body: { obj } });
      return tokenOf(project, 'plain');
    },
    'an object of a class that is called so too': async (project) => {
      const val = linkValue('bases', 'trace', { _class_name: 'PublicLink', _bases: [] });
      await done({ path: '/obj/create', body: { obj: { project_id: project, object_id: 'bases', val } } });
      return tokenOf(project, 'bases');
    },
    'a revoked link': async (project, token) => {
      await done(makeLink(project, 'link', 'trace', { revoked: true }));
      return token;
    },
    'a revoked link whose former version came back': async (project, token) => {
      const { path, body } = makeLink(project, 'link', 'trace', { revoked: true });
      const { digest } = (await (await service.post(path, body)).json()) as { digest: string };
      const deletion = { project_id: project, object_id: 'link', digests: [digest] };
      const answer = await service.post('/obj/delete', deletion);
      expect(await answer.json()).toEqual({ num_deleted: 1 });
      return token;
    },
    'a link that was prolonged': async (project, token) => {
      await done(makeLink(project, 'link', 'trace', { expires_at: inDays(300) }));
      return token;
    },
    'a link that was turned to another trace': async (project, token) => {
      await done(report(...call(project, 'elsewhere', { trace_id: 'other' })));
      await done(makeLink(project, 'link', 'other'));
      return token;
    },
    'a deleted link': async (project, token) => {
      await done({ path: '/obj/delete', body: { project_id: project, object_id: 'link' } });
      return token;
    },
    'a deleted link that was made again': async (project, token) => {
      await done({ path: '/obj/delete', body: { project_id: project, object_id: 'link' } });
      await done(makeLink(project, 'link', 'trace'));
      return token;
    },
    'an expired link': async (project) => {
      await done(
        makeLink(project, 'short', 'trace', { expires_at: new Date(Date.now() + 1500).toISOString() }),
      );
      const token = tokenOf(project, 'short');
      expect((await ask({ token })).status).toBe(200);
      await expect.poll(async () => (await ask({ token })).status, { timeout: 10_000 }).toBe(404);
      return token;
    },
    'a link of a project that does not allow them any more': async (project, token) => {
      await done(allowLinks(project, false));
      return token;
    },
    'a link of a project that says nothing any more': async (project, token) => {
      await done({ path: '/obj/delete', body: { project_id: project, object_id: 'sharing' } });
      return token;
    },
    'a deleted trace': async (project, token) => {
      await done({ path: '/calls/delete', body: { project_id: project, call_ids: ['root'] } });
      return token;
    },
    'a trace of another project': async (project) => {
      const other = newName('acme/others');
      await done(report(...call(other, 'theirs', { trace_id: 'their-trace' })));
      await done(makeLink(project, 'theirs', 'their-trace'));
      return tokenOf(project, 'theirs');
    },
    'a secret of another project': async (project) => {
      const other = newName('acme/others');
      await done(allowLinks(other));
      await done(makeLink(other, 'their-link', 'trace'));
      return tokenOf(project, 'their-link');
    },
    'the token with something behind it': (_, token) => `${token}=`,
    'no text': () => '',
    'odd characters': () => '\u0000\u2028日本/../../%00<script>',
    'what is no JSON': () => Buffer.from('[1,2').toString('base64url'),
    'other JSON': () => Buffer.from('["__proto__",{"constructor":1},null]').toString('base64url'),
    'a path in the place of a project': () => tokenOf('../..', 'link'),
    'a ref in the place of a link': (project) => tokenOf(project, 'a/b:c'),
  };

  it.each(Object.keys(ways))('%s', async (way) => {
    const { project, token } = await shared();
    expect((await seen(token)).status).toBe(200);
    expect(await seen((await ways[way]?.(project, token)) ?? '')).toEqual(nowhere);
  });
});

describe('a project', () => {
  it('allows no links until an admin says so', async () => {
    const project = newName('acme/unshared');
    await done(report(...call(project, 'root')));
    await done(makeLink(project, 'link', 'trace'));
    expect(await seen(tokenOf(project, 'link'))).toEqual(nowhere);
    for (const role of ['read', 'report', 'write', 'inference'])
      expect([role, await statusWith(`${project}:${role}`, allowLinks(project))]).toEqual([role, 403]);
    expect(await statusWith(`${project}:admin`, allowLinks(project))).toBe(200);
    expect((await seen(tokenOf(project, 'link'))).status).toBe(200);
    const stop: Sent = { path: '/obj/delete', body: { project_id: project, object_id: 'sharing' } };
    const cover = { project_id: project, object_id: 'sharing', val: { public_links: false } };
    expect(await statusWith(`${project}:write`, stop)).toBe(403);
    expect(await statusWith(`${project}:write`, { path: '/obj/create', body: { obj: cover } })).toBe(403);
  });

  it.each(['own', 'Weave’s'])('has links by who may write alone, by its %s door', async (door) => {
    const { project } = await shared();
    const to = door === 'own' ? service : throughWeave(service);
    for (const role of ['read', 'report', 'inference'])
      expect(await statusWith(`${project}:${role}`, makeLink(project, `by-${role}`, 'trace'), to)).toBe(403);
    expect(await statusWith(`${project}:write`, makeLink(project, 'by-write', 'trace'), to)).toBe(200);
    expect((await seen(tokenOf(project, 'by-write'))).status).toBe(200);
    // Who may write may end anybody's.
    expect(
      await statusWith(`${project}:write`, makeLink(project, 'link', 'trace', { revoked: true }), to),
    ).toBe(200);
    expect(await seen(tokenOf(project, 'link'))).toEqual(nowhere);
  });

  it('has links and the leave for them on its audit trail', async () => {
    const { project } = await shared();
    await done(makeLink(project, 'link', 'trace', { revoked: true }));
    const query = { project_id: project, start: inDays(-1), end: inDays(1), limit: 10 };
    const answer = await service.post('/audit/query', query);
    expect(await answer.json()).toMatchObject({
      records: [
        { action: 'publiclink.set', target: 'link', after: { revoked: true } },
        { action: 'publiclink.set', target: 'link', after: { trace_id: 'trace' } },
        { action: 'sharing.set', target: 'sharing', after: { public_links: true } },
      ],
    });
  });

  it('refuses links that say nonsense, by the place', async () => {
    const project = newName('acme/nonsense');
    const wrong: Readonly<Record<string, object>> = {
      trace_id: { trace_id: '' },
      expires_at: { expires_at: inDays(366) },
      digest: { digest: createHash('sha256').update('x').digest('hex') },
      revoked: { revoked: 'yes' },
      secret: { secret: 'x' },
    };
    for (const [place, fields] of Object.entries(wrong)) {
      const { path, body } = makeLink(project, 'link', 'trace', fields);
      const answer = await service.post(path, body);
      expect([answer.status, await answer.json()]).toMatchObject([
        422,
        { detail: [{ loc: ['body', 'obj', 'val', place] }] },
      ]);
    }
    for (const expires_at of [inDays(-1), 'soon', null]) {
      const { path, body } = makeLink(project, 'link', 'trace', { expires_at });
      expect((await service.post(path, body)).status).toBe(422);
    }
  });
});

describe('a huge trace', () => {
  it('shows its first calls', async () => {
    const { project, token } = await shared();
    const ids = Array.from({ length: maxSharedCalls + 50 }, (_, i) => `call-${String(i).padStart(5, '0')}`);
    const second = { started_at: '2026-10-01T00:00:01Z' };
    for (let at = 0; at < ids.length; at += 500)
      await done(report(...ids.slice(at, at + 500).flatMap((id) => call(project, id, second))));
    const lines = await linesOf(token);
    const calls = lines.flatMap(({ call }) => (call ? [call.id] : []));
    expect(calls).toHaveLength(maxSharedCalls);
    expect(calls.slice(0, 3)).toEqual(['root', 'below', 'call-00000']);
    expect(lines.at(-1)).toEqual({ end: { complete: false } });
  });

  it('shows as many bytes as a link may', async () => {
    const { project, token } = await shared();
    const q = 'x'.repeat(2_200_000);
    for (let i = 0; i < 5; i++)
      await done(
        report(...call(project, `big-${i}`, { inputs: { q }, started_at: `2026-10-01T00:00:0${i + 1}Z` })),
      );
    const lines = await linesOf(token);
    expect(lines.at(-1)).toEqual({ end: { complete: false } });
    expect(lines.filter(({ call }) => call)).toHaveLength(6);
    expect(JSON.stringify(lines).length).toBeLessThan(maxSharedBytes);
  });
});
