import type { BusEvent } from 'cdk-local-runner/streams';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import { eventDetails } from '../../../../api/openapi/events.ts';
import type { promptRead, promptsQuery } from '../../../../api/prompts.ts';
import { keyWith } from '../../../support/service/keys.ts';
import { type SharedService, sharedService, throughWeave } from '../../../support/service/service.ts';

let service: SharedService;
let weave: SharedService;
beforeAll(async () => {
  service = await sharedService();
  weave = throughWeave(service);
});

const project_id = 'acme/prompts';

interface Answer<Body> {
  readonly status: number;
  readonly body: Body;
}

const call = async <Body = unknown>(
  path: string,
  body: object,
  authorization?: string,
): Promise<Answer<Body>> => {
  const sent = { project_id, ...body };
  const answer = await service.post(path, sent, authorization ? { headers: { authorization } } : {});
  return { status: answer.status, body: (await answer.json()) as Body };
};
const done = async <Body = Record<string, unknown>>(path: string, body: object): Promise<Body> => {
  const answer = await call<Body>(path, body);
  expect([path, answer]).toEqual([path, { status: 200, body: expect.anything() }]);
  return answer.body;
};
const detail = (status: number, loc: readonly string[], msg: unknown, type: string) => ({
  status,
  body: { detail: [{ loc, msg, type }] },
});

const create = (name: string, text: string, fields: object = {}) =>
  done<{ ref: string; digest: string; version_index: number }>('/prompt/create', { name, text, ...fields });
const read = (name: string, choice: object = {}) =>
  done<AnswerOf<typeof promptRead>>('/prompt/read', { name, ...choice });
const move = (name: string, label: string, version_index: number | null, authorization?: string) =>
  call('/prompt/labels', { name, label, version_index }, authorization);
const list = (fields: object = {}) => done<AnswerOf<typeof promptsQuery>>('/prompts/query', fields);

const basic = (key = service.key) => `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
const get = (
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
) =>
  fetch(`${service.url}/prompt/read?${new URLSearchParams({ project_id, ...query })}`, {
    method,
    headers: { authorization: basic(), ...headers },
  });

describe('a prompt', () => {
  it('is made, read by any name of a version, and made again without another version', async () => {
    const messages = [
      { role: 'system', content: 'You are {who}.' },
      { role: 'user', content: [{ type: 'text', text: '{question} {{braces}}' }] },
    ];
    const config = { model: 'gpt-4o', parameters: { temperature: 0 }, tools: [], flag: true };
    const made = await done('/prompt/create', { name: 'support', messages, config });
    const version = {
      ref: `svc:///${project_id}/object/support:${made.digest}`,
      digest: made.digest,
      version_index: 0,
    };
    expect(made).toEqual(version);
    const expected = {
      name: 'support',
      ...version,
      labels: [],
      messages,
      variables: ['who', 'question'],
      config,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      svc_user_id: 'local',
    };
    for (const choice of [{}, { label: 'latest' }, { version_index: 0 }, { digest: made.digest }])
      expect(await read('support', choice)).toEqual(expected);
    expect(await done('/prompt/create', { name: 'support', messages, config })).toEqual(version);
    const second = await create('support', 'Now {a} text');
    expect(second.version_index).toBe(1);
    const { messages: _, ...text } = await read('support');
    expect(text).toMatchObject({ text: 'Now {a} text', variables: ['a'], config: {}, version_index: 1 });
  });

  it('is read in production without a choice, wherever the label is, and else the newest', async () => {
    await create('chosen', 'zero');
    await create('chosen', 'one');
    expect((await read('chosen')).text).toBe('one');
    expect(await move('chosen', 'production', 0)).toEqual({ status: 200, body: {} });
    expect(await read('chosen')).toMatchObject({ text: 'zero', labels: ['production'] });
    await move('chosen', 'production', 1);
    expect((await read('chosen')).text).toBe('one');
    await move('chosen', 'production', 0);
    expect((await read('chosen')).text).toBe('zero');
    await move('chosen', 'production', null);
    expect(await read('chosen')).toMatchObject({ text: 'one', labels: [] });
  });

  it('may have a Unicode name, hostile labels and variables, and lies in the bucket if it is long', async () => {
    const name = 'поддержка 日本 😀 __proto__';
    const text = `${'x{a}'.repeat(40_000)}${Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('base64')}{__proto__}`;
    const labels = [
      '__proto__',
      'constructor',
      '../../x',
      '%2e%2e',
      'a b',
      '"',
      "';--",
      '𝄞'.repeat(100),
      'V1',
      'Latest',
    ];
    await create(name, text, { labels });
    for (const label of labels) expect((await get({ name, label })).status).toBe(200);
    const answer = await get({ name, label: '__proto__' });
    expect(await answer.json()).toMatchObject({
      name,
      text,
      labels: labels.toSorted(),
      variables: ['a', '__proto__'],
    });
  });

  it('is refused with what is wrong, at its place', async () => {
    const refused = async (path: string, body: object) => {
      const { status, body: answer } = await call<{ detail: { loc: string[]; msg: string }[] }>(path, body);
      return [status, answer.detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)];
    };
    const name = 'refused';
    expect(await refused('/prompt/create', { name })).toEqual([
      422,
      ['body: should have exactly one of messages and text'],
    ]);
    expect(await refused('/prompt/create', { name, text: '', messages: [{ role: 'user' }] })).toEqual([
      422,
      ['body: should have exactly one of messages and text'],
    ]);
    expect(await refused('/prompt/create', { name, messages: [] })).toEqual([
      422,
      ['body.messages: should not be empty'],
    ]);
    expect(await refused('/prompt/create', { name, messages: [{ content: 'x' }, 1] })).toEqual([
      422,
      [
        'body.messages.0: should have a role, such as system, user or assistant',
        'body.messages.1: should be an object',
      ],
    ]);
    expect(await refused('/prompt/create', { name, text: '', config: { model: 1, tools: {} } })).toEqual([
      422,
      ['body.config.model: should be a text', 'body.config.tools: should be a list'],
    ]);
    for (const label of ['latest', 'v1', 'x'.repeat(43)])
      expect(await refused('/prompt/labels', { name, label, version_index: 0 })).toEqual([
        422,
        ['body.label: should be neither latest, nor v<N>, nor a digest'],
      ]);
    expect(await refused('/prompt/create', { name, text: '', labels: ['a\nb'] })).toEqual([
      422,
      ['body.labels.0: should be 1 to 256 printable characters'],
    ]);
    expect(await refused('/prompt/read', { name, label: 'a', version_index: 1 })).toEqual([
      422,
      ['body: should have at most one of label, version_index and digest'],
    ]);
    expect(await refused('/prompt/read', { name: 'a/b' })).toEqual([
      422,
      [expect.stringMatching(/^body\.name: /)],
    ]);
  });

  it('is a 404 that says what is missing', async () => {
    await create('missing', 'x');
    const not = (loc: string, msg: string) => detail(404, ['body', loc], msg, 'not_found');
    const where = 'of the prompt "missing" in acme/prompts';
    expect(await call('/prompt/read', { name: 'none' })).toEqual(
      not('name', 'there is no prompt "none" in acme/prompts'),
    );
    expect(await call('/prompt/read', { name: 'missing', label: 'prod' })).toEqual(
      not('label', `there is no label "prod" ${where}`),
    );
    expect(await call('/prompt/read', { name: 'missing', version_index: 7 })).toEqual(
      not('version_index', `there is no version 7 ${where}`),
    );
    expect(await move('missing', 'prod', 7)).toEqual(
      not('version_index', 'there is no such version of missing in acme/prompts'),
    );
    const answer = await get({ name: 'missing', label: 'prod' });
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { detail: [{ loc: ['query', 'label'], msg: `there is no label "prod" ${where}`, type: 'not_found' }] },
    ]);
  });

  it('does not take the name of another kind of object, and such an object is no prompt', async () => {
    const obj = { project_id, object_id: 'a-set', val: { _type: 'Dataset', rows: [] } };
    expect((await service.post('/obj/create', { obj })).status).toBe(200);
    expect(await call('/prompt/create', { name: 'a-set', text: 'x' })).toEqual(
      detail(
        409,
        ['body', 'name'],
        'should be another name: a-set in acme/prompts is an object of class Dataset',
        'conflict',
      ),
    );
    expect(await call('/prompt/read', { name: 'a-set' })).toEqual(
      detail(
        404,
        ['body', 'name'],
        'v0 of "a-set" in acme/prompts is no prompt: it has neither messages nor a text',
        'not_found',
      ),
    );
    expect((await list()).prompts.map(({ name }) => name)).not.toContain('a-set');
  });
});

describe('a GET of a prompt', () => {
  const kept = 'private, max-age=60, stale-while-revalidate=86400';

  it('is answered as the POST is, with what a cache needs, and 304 while nothing has changed', async () => {
    await create('cached', 'one', { labels: ['production'] });
    const first = await get({ name: 'cached' });
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]{43}"$/);
    expect(first.headers.get('cache-control')).toBe(kept);
    expect(first.headers.get('vary')).toBe('authorization, accept-encoding');
    expect(await first.json()).toEqual(await read('cached'));
    for (const known of [etag, `"other", ${etag.slice(2)}`, '*']) {
      const again = await get({ name: 'cached' }, { 'if-none-match': known });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
      expect(again.headers.get('cache-control')).toBe(kept);
    }
    await create('cached', 'two', { labels: ['production'] });
    const changed = await get({ name: 'cached' }, { 'if-none-match': etag });
    expect([changed.status, await changed.json()]).toMatchObject([200, { text: 'two' }]);
    expect(changed.headers.get('etag')).not.toBe(etag);
  });

  it('takes an index in its query, and answers HEAD without a body', async () => {
    await create('indexed', 'zero');
    await create('indexed', 'one');
    expect(await (await get({ name: 'indexed', version_index: '0' })).json()).toMatchObject({ text: 'zero' });
    const head = await get({ name: 'indexed', version_index: '0' }, {}, 'HEAD');
    expect([head.status, await head.text(), head.headers.get('cache-control')]).toEqual([200, '', kept]);
    const bad = await get({ name: 'indexed', version_index: '-1' });
    expect([bad.status, await bad.json()]).toMatchObject([
      422,
      { detail: [{ loc: ['query', 'version_index'] }] },
    ]);
    expect((await get({ name: 'indexed', nothing: '1' })).status).toBe(422);
  });

  it('is compressed if the client takes that', async () => {
    await create('packed', 'x'.repeat(10_000));
    const answer = await get({ name: 'packed' }, { 'accept-encoding': 'gzip' });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(await answer.json()).toMatchObject({ text: 'x'.repeat(10_000) });
  });

  it('takes a key that may read the project', async () => {
    await create('guarded', 'x');
    const other = await keyWith(service, { scope: 'acme/*', role: 'inference' });
    const answer = await get({ name: 'guarded' }, { authorization: other });
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      { detail: [{ loc: ['query', 'project_id'] }] },
    ]);
    expect((await get({ name: 'guarded' }, { authorization: 'Basic eDp5' })).status).toBe(401);
  });
});

describe('labels', () => {
  it('that are moved at once are all remembered, each from where the one before had left it', async () => {
    const versions = [0, 1, 2, 3, 4, 5];
    for (const version of versions) await create('raced', `${version}`);
    const answers = await Promise.all(versions.map((version) => move('raced', 'production', version)));
    expect(answers.map(({ status }) => status)).toEqual(versions.map(() => 200));
    const { prompts, history = [] } = await list({ name: 'raced' });
    const moves = history.filter(({ label }) => label === 'production');
    expect(moves.map(({ version_index }) => version_index).toSorted()).toEqual(versions);
    expect(prompts[0]?.labels).toMatchObject([
      { label: 'production', version_index: (await read('raced')).version_index },
    ]);
    // Each move but the first starts where another has ended.
    const ends = moves.map(({ version_index }) => version_index);
    const starts = moves.map(({ previous_version_index }) => previous_version_index);
    expect(starts.filter((start) => start === null).length).toBe(1);
    expect(new Set(starts).size).toBe(versions.length);
    expect(starts.filter((start) => start !== null).every((start) => ends.includes(start))).toBe(true);
  });

  it('have a history with who and when, newest first, in which a repeat leaves nothing', async () => {
    await create('history', 'zero', { labels: ['production'] });
    await create('history', 'one');
    for (const version of [1, 1, 0, null, null]) await move('history', 'production', version);
    const { history } = await list({ name: 'history' });
    const when = expect.stringMatching(/Z$/);
    const row = (from: number | null, to: number | null) => ({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      label: 'production',
      version_index: to,
      previous_version_index: from,
      moved_at: when,
      svc_user_id: 'local',
    });
    expect(history).toEqual([row(0, null), row(1, 0), row(0, 1), row(null, 0)]);
    expect((await list({ name: 'history', limit: 1 })).history).toEqual([row(0, null)]);
  });

  it('are listed with their versions, for each prompt', async () => {
    const project = 'acme/prompt-list';
    for (const name of ['b', 'a', 'c']) await create(name, 'zero', { project_id: project });
    await create('a', 'one', { project_id: project, labels: ['production', 'beta'] });
    await call('/prompt/labels', { project_id: project, name: 'a', label: 'beta', version_index: 0 });
    const { prompts, history } = await list({ project_id: project });
    expect(history).toBeUndefined();
    expect(prompts.map(({ name, versions }) => [name, versions])).toEqual([
      ['a', 2],
      ['b', 1],
      ['c', 1],
    ]);
    expect(prompts[0]?.labels.map(({ label, version_index }) => [label, version_index])).toEqual([
      ['beta', 0],
      ['production', 1],
    ]);
    const page = await list({ project_id: project, offset: 1, limit: 1 });
    expect(page.prompts.map(({ name }) => name)).toEqual(['b']);
  });

  it('go with a version that is deleted, which is remembered, and do not come back with it', async () => {
    const zero = await create('deleted', 'zero', { labels: ['old', 'production'] });
    await create('deleted', 'one');
    await done('/obj/delete', { object_id: 'deleted', digests: [zero.digest] });
    expect((await read('deleted')).text).toBe('one');
    expect((await call('/prompt/read', { name: 'deleted', label: 'old' })).status).toBe(404);
    expect((await call('/prompt/read', { name: 'deleted', version_index: 0 })).status).toBe(404);
    expect((await move('deleted', 'old', 0)).status).toBe(404);
    const { history = [] } = await list({ name: 'deleted' });
    expect(
      history
        .slice(0, 2)
        .map(({ label, version_index }) => [label, version_index])
        .toSorted(),
    ).toEqual([
      ['old', null],
      ['production', null],
    ]);
    await create('deleted', 'zero');
    expect((await read('deleted', { version_index: 2 })).labels).toEqual([]);
  });

  it('may be moved by whoever may write, and by nobody else', async () => {
    await create('roles', 'zero');
    const reader = await keyWith(service, { scope: project_id as 'acme/*', role: 'read' });
    const writer = await keyWith(service, { scope: project_id as 'acme/*', role: 'write' });
    expect((await move('roles', 'production', 0, reader)).status).toBe(403);
    expect((await move('roles', 'production', 0, writer)).status).toBe(200);
    const { history } = await list({ name: 'roles' });
    expect(history).toMatchObject([{ svc_user_id: 'bob' }]);
  });
});

describe('moves of labels', () => {
  const project = 'acme/moved-labels';
  const sent = (path: string, body: object, from = service, method = 'POST') =>
    from
      .post(path, { project_id: project, ...body }, { method })
      .then(({ status }) => expect(status).toBe(200));

  it('are on the audit trail, by whatever way they were made, and told on the bus', async () => {
    const events: BusEvent[] = [];
    const told = await sharedService({ events: true });
    const unsubscribe = told.bus.subscribe((event) => {
      if (event['detail-type'] === 'PromptLabelMoved') events.push(event);
    });
    const door = throughWeave(told);
    await sent('/prompt/create', { name: 'p', text: 'zero', labels: ['production'] }, told);
    await sent('/prompt/create', { name: 'p', text: 'one' }, told);
    await sent('/prompt/labels', { name: 'p', label: 'production', version_index: 1 }, told);
    await sent('/prompt/labels', { name: 'p', label: 'production', version_index: 1 }, told);
    await sent('/objs/p/aliases', { digest: 'v0', aliases: ['production'] }, door, 'PUT');
    await sent(
      '/obj/create',
      { obj: { project_id: project, object_id: 'model', val: 1 }, project_id: undefined },
      told,
    );
    await sent('/objs/model/aliases', { digest: 'v0', aliases: ['production'] }, door, 'PUT');
    await sent('/obj/delete', { object_id: 'p' }, told);
    const day = 86_400_000;
    const range = {
      start: new Date(Date.now() - day).toISOString(),
      end: new Date(Date.now() + day).toISOString(),
    };
    const answer = await told.post('/audit/query', { project_id: project, action: 'prompt.label', ...range });
    const { records } = (await answer.json()) as {
      records: { target: string; before: object; after: object }[];
    };
    const move = (before: number | null, after: number | null) => ({
      target: 'p:production',
      before: { version_index: before },
      after: { version_index: after },
    });
    expect(records).toMatchObject([move(0, null), move(1, 0), move(0, 1), move(null, 0)]);
    await expect.poll(() => events.length).toBe(4);
    unsubscribe();
    const details = events.map(({ detail }) => eventDetails().PromptLabelMoved.parse(detail));
    expect(details.map(({ version_index: to, previous_version_index: from }) => [from, to])).toEqual([
      [null, 0],
      [0, 1],
      [1, 0],
      [0, null],
    ]);
    expect(details.at(-1)).toMatchObject({ project_id: project, name: 'p', label: 'production', ref: null });
    expect(new Set(details.map(({ event_id }) => event_id)).size).toBe(4);
  });
});

describe('protected labels', () => {
  const project = 'acme/guarded-prompts';
  let writer: string;
  let admin: string;
  const as = (authorization: string, path: string, body: object, method = 'POST', from = service) =>
    from
      .post(path, { project_id: project, ...body }, { method, headers: { authorization } })
      .then(async (answer) => ({ status: answer.status, body: await answer.json() }));

  beforeAll(async () => {
    writer = await keyWith(service, { scope: 'acme/*', role: 'write' });
    admin = await keyWith(service, { scope: 'acme/*', role: 'write' }, { scope: 'acme/*', role: 'admin' });
    await service.post('/prompt/create', {
      project_id: project,
      name: 'p',
      text: 'zero',
      labels: ['production', 'beta'],
    });
    await service.post('/prompt/create', { project_id: project, name: 'p', text: 'one' });
    const obj = {
      project_id: project,
      object_id: 'prompt-labels',
      val: { _type: 'PromptLabels', protected: ['production'] },
    };
    expect((await as(admin, '/obj/create', { obj, project_id: undefined })).status).toBe(200);
  });

  it('take the role admin, by every way', async () => {
    const msg =
      'it takes the role admin to move the label "production", which this key does not have in acme/guarded-prompts';
    const refusal = (...loc: string[]) => detail(403, loc, msg, 'forbidden');
    const production = { name: 'p', label: 'production' };
    for (const version_index of [1, null])
      expect(await as(writer, '/prompt/labels', { ...production, version_index })).toEqual(
        refusal('body', 'label'),
      );
    const creation = { name: 'p', text: 'two', labels: ['beta', 'production'] };
    expect(await as(writer, '/prompt/create', creation)).toEqual(refusal('body', 'labels'));
    const aliases = { digest: 'v1', aliases: ['beta', 'production'] };
    expect(await as(writer, '/objs/p/aliases', aliases, 'PUT', weave)).toEqual(refusal('body', 'aliases'));
    expect(await as(writer, '/objs/p/aliases/remove', { aliases: ['production'] }, 'POST', weave)).toEqual(
      refusal('body', 'aliases'),
    );
    expect(await as(writer, '/prompts/query', { name: 'p' })).toMatchObject({
      body: { prompts: [{ versions: 2, labels: [{ version_index: 0 }, { version_index: 0 }] }] },
    });
    expect((await as(writer, '/prompt/labels', { name: 'p', label: 'beta', version_index: 1 })).status).toBe(
      200,
    );
    expect((await as(admin, '/prompt/labels', { ...production, version_index: 1 })).status).toBe(200);
    expect((await as(admin, '/prompt/labels', { ...production, version_index: 0 })).status).toBe(200);
  });

  it('keep their version from being deleted, whoever asks', async () => {
    const msg =
      'has the label "production" on a version that would be deleted, and acme/guarded-prompts protects this label: move or remove it first';
    for (const from of [service, weave])
      for (const key of [writer, admin])
        expect(await as(key, '/obj/delete', { object_id: 'p' }, 'POST', from)).toEqual(
          detail(409, ['body', 'object_id'], msg, 'conflict'),
        );
    const read = await as(writer, '/prompt/read', { name: 'p' });
    expect(read).toMatchObject({ body: { text: 'zero', labels: ['production'] } });
  });

  it('are said by an admin alone', async () => {
    const obj = {
      project_id: project,
      object_id: 'prompt-labels',
      val: { _type: 'PromptLabels', protected: [] },
    };
    expect((await as(writer, '/obj/create', { obj, project_id: undefined })).status).toBe(403);
    expect((await as(writer, '/obj/delete', { object_id: 'prompt-labels' })).status).toBe(403);
    const elsewhere = { ...obj, object_id: 'other' };
    expect((await as(admin, '/obj/create', { obj: elsewhere, project_id: undefined })).status).toBe(422);
  });
});

describe("Weave's SDKs", () => {
  const bases = { _class_name: 'MessagesPrompt', _bases: ['Prompt', 'Object', 'BaseModel'] };

  it('make prompts that are listed, read and labelled here, and aliases are labels', async () => {
    const messages = [{ role: 'user', content: 'Hi {name}' }];
    const val = { _type: 'MessagesPrompt', name: 'theirs', description: null, messages, ...bases };
    const sent = { obj: { project_id, object_id: 'theirs', val } };
    expect((await weave.post('/obj/create', sent)).status).toBe(200);
    const put = { project_id, digest: 'v0', aliases: ['production'] };
    expect((await weave.post('/objs/theirs/aliases', put, { method: 'PUT' })).status).toBe(200);
    expect(await read('theirs')).toMatchObject({
      messages,
      variables: ['name'],
      labels: ['production'],
      config: {},
    });
    await move('theirs', 'beta', 0);
    const { prompts, history = [] } = await list({ name: 'theirs' });
    expect(prompts[0]?.labels.map(({ label }) => label)).toEqual(['beta', 'production']);
    expect(history.map(({ label }) => label)).toEqual(['beta', 'production']);
    const listed = await fetch(`${weave.url}/aliases?project_id=${encodeURIComponent(project_id)}`, {
      headers: { authorization: basic() },
    });
    expect(((await listed.json()) as { aliases: string[] }).aliases).toEqual(
      expect.arrayContaining(['beta', 'production']),
    );
  });

  it('read prompts that were made here, by their labels', async () => {
    await done('/prompt/create', {
      name: 'ours',
      messages: [{ role: 'user', content: 'x' }],
      labels: ['production'],
    });
    const answer = await weave.post('/obj/read', { project_id, object_id: 'ours', digest: 'production' });
    expect(await answer.json()).toMatchObject({
      obj: {
        base_object_class: 'Prompt',
        val: { _type: 'MessagesPrompt', name: 'ours', messages: [{ role: 'user', content: 'x' }], ...bases },
      },
    });
  });

  it('report calls whose inputs lead to a prompt, which is the prompt of the call', async () => {
    const publish = async (object_id: string, val: object) => {
      const answer = await weave.post('/obj/create', { obj: { project_id, object_id, val } });
      return `weave:///${project_id}/object/${object_id}:${((await answer.json()) as { digest: string }).digest}`;
    };
    const prompt = { _type: 'MessagesPrompt', messages: [], ...bases };
    await publish('greeting', { ...prompt, name: 'first' });
    const second = await publish('greeting', { ...prompt, name: 'second' });
    const model = await publish('greeter', { _type: 'Model', _class_name: 'Greeter', _bases: ['Model'] });
    const inputs: Readonly<Record<string, object>> = {
      ref: { self: model, nested: [{ prompt: second }] },
      itself: { prompt: { ...prompt, name: 'inline' } },
      none: { self: model, text: second.slice(0, -1), path: `${second}/attr/messages` },
      elsewhere: { prompt: second.replace(project_id, 'acme/other') },
      deep: { a: { b: { c: { d: { e: second } } } } },
      said: { prompt: second },
    };
    const whole = (id: string) => ({
      project_id,
      id,
      trace_id: id,
      op_name: 'greet',
      started_at: '2026-10-01T00:00:00Z',
      ended_at: '2026-10-01T00:00:01Z',
      attributes: id === 'said' ? { prompt: { name: 'mine' } } : { other: 1 },
      inputs: inputs[id],
      output: null,
      summary: {},
    });
    const ids = Object.keys(inputs);
    const sent = await weave.post(`/v2/${project_id}/calls/complete`, { batch: ids.map(whole) });
    expect(sent.status).toBe(200);
    const start = {
      ...whole('ref'),
      id: 'started',
      output: undefined,
      summary: undefined,
      ended_at: undefined,
    };
    expect((await weave.post('/call/start', { start })).status).toBe(200);
    const batch = [{ mode: 'start', req: { start: { ...start, id: 'batched' } } }];
    expect((await weave.post('/call/upsert_batch', { batch })).status).toBe(200);
    const answer = await service.post('/calls/stream_query', {
      project_id,
      filter: { call_ids: [...ids, 'started', 'batched'] },
      columns: ['attributes'],
    });
    const calls = (await answer.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const greeting = { name: 'greeting', version: '1' };
    expect(Object.fromEntries(calls.map(({ id, attributes }) => [id, attributes.prompt]))).toEqual({
      ref: greeting,
      itself: { name: 'inline' },
      none: undefined,
      elsewhere: undefined,
      deep: undefined,
      said: { name: 'mine' },
      started: greeting,
      batched: greeting,
    });
    expect(calls.every(({ id, attributes }) => id === 'said' || attributes.other === 1)).toBe(true);
    const filtered = await service.post('/calls/query_stats', {
      project_id,
      query: { $expr: { $eq: [{ $getField: 'attributes.prompt.version' }, { $literal: '1' }] } },
    });
    expect(await filtered.json()).toMatchObject({ count: 3 });
  });
});
