import type { BusEvent } from 'cdk-local-runner/streams';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { weaveDoor } from '../../../../core/doors/weave/index.ts';
import { type Grant, parseScope } from '../../../../foundations/auth/index.ts';
import { ownDoor } from '../../../../foundations/door.ts';
import { builtins } from '../../../../foundations/redaction/index.ts';
import type { JsonObject, JsonValue } from '../../../../foundations/wire/index.ts';
import {
  agentJson,
  attributes,
  exportBytes,
  exportJson,
  logsJson,
  recordJson,
  spanId,
  spanJson,
  spanMessage,
  textAttribute,
} from '../../../support/otel/otel.ts';
import { keyWith } from '../../../support/service/keys.ts';
import { startService, type TestService, throughWeave } from '../../../support/service/service.ts';
import {
  chunk,
  completion,
  done,
  event,
  events,
  json,
  startUpstream,
  type TestUpstream,
} from '../../../support/service/upstream.ts';
import { readEverything } from '../../../support/stored/searched.ts';

/** One secret of each form, each unlike anything that is stored for another reason. */
const secrets: Readonly<Record<string, string>> = {
  email: 'marked.ada@secretmail.example',
  phone: '+49 30 5550 98765',
  card: '4111 1111 1111 1111',
  iban: 'DE89 3704 0044 0532 0130 00',
  ipv4: '203.0.113.77',
  ipv6: '2001:db8:5ec:1::77',
  aws_key: 'AKIAMARKEDMARKEDMA12'.replace(/[189]/g, '7'),
  private_key: '-----BEGIN PRIVATE KEY-----\nMIImarkedkeybody\n-----END PRIVATE KEY-----',
  bearer_token: 'Bearer markedbearer1234567890',
  api_key: 'sk-proj-markedmarkedmarked1234567890',
  customer: 'CUST-424242',
};

/** What of each secret is searched for. */
const needles = [
  'marked.ada',
  'secretmail',
  '5550 98765',
  '4111 1111',
  '4111111111111111',
  '0532 0130',
  '203.0.113.77',
  '5ec:1::77',
  secrets.aws_key ?? '',
  'markedkeybody',
  'markedbearer',
  'markedmarked',
  'CUST-424242',
  'hunter2marked',
];

const rules = [
  ...builtins.map((builtin) => ({
    name: builtin,
    builtin,
    action: builtin === 'email' || builtin === 'phone' ? 'hash' : builtin === 'ipv4' ? 'drop' : 'label',
  })),
  { name: 'customer', pattern: 'CUST-\\d{6}', action: 'label' },
  {
    name: 'password',
    paths: ['inputs', 'output', 'attributes', 'summary', 'payload', 'val', 'rows.*'].map(
      (at) => `${at}.password`,
    ),
    action: 'drop',
  },
];

const everySecret = Object.values(secrets).join(' ; ');
/** Names have no line breaks. */
const everyName = everySecret.replaceAll('\n', ' ');
/** Secrets as texts, as keys, deep down, in a text with JSON, and as a number. */
const payload: JsonObject = {
  text: everySecret,
  [`to ${secrets.email}`]: 'a key',
  deep: [{ list: [everySecret, { 'x-key': secrets.api_key ?? '' }] }],
  json: JSON.stringify({ note: `\n${secrets.card}`, mail: secrets.email }),
  number: 4111111111111111,
  password: 'hunter2marked',
};

const project = 'acme/secrets';
const model = 'gpt-marked';
const started_at = '2026-10-01T09:30:00.000001Z';
const ended_at = '2026-10-01T09:30:01.500001Z';
const thread = `of ${secrets.email}`;
const longThread = `${secrets.email} ${'x'.repeat(220)}`;

const start = (id: string, fields: object = {}) => ({
  project_id: project,
  id,
  trace_id: `t-${id}`,
  op_name: `op ${secrets.email}`,
  started_at,
  display_name: `for ${everyName}`,
  thread_id: thread,
  turn_id: id,
  attributes: { ...payload, user: { id: secrets.email } },
  inputs: payload,
  ...fields,
});
const end = (id: string, fields: object = {}) => ({
  project_id: project,
  id,
  ended_at,
  output: payload,
  exception: `failed for ${everySecret}`,
  summary: { ...payload, usage: { [model]: { prompt_tokens: 4111, completion_tokens: 1111 } } },
  ...fields,
});

const form = (content: string | Uint8Array<ArrayBuffer>): FormData => {
  const made = new FormData();
  made.set('project_id', project);
  made.set('file', new Blob([content]));
  return made;
};

describe.each([
  ['our own API', ownDoor],
  ['Weave’s door', weaveDoor],
] as const)('with rules for everything, by %s', (_, door) => {
  const byWeave = door === weaveDoor;
  const onOne = byWeave
    ? { weave_ref: `weave:///${project}/call/one` }
    : { svc_ref: `svc:///${project}/call/one` };
  let upstream: TestUpstream;
  let service: TestService;
  /** The service by the door that is tried. */
  let at: TestService;
  const busEvents: BusEvent[] = [];
  const answers: string[] = [];

  beforeAll(async () => {
    upstream = await startUpstream();
    service = await startService({
      settings: { redact: rules, events: { payloads: true }, analytics: true },
      inference: { baseUrl: upstream.baseUrl },
      maxWindowMs: 50,
    });
    at = byWeave ? throughWeave(service) : service;
    service.bus.subscribe((event) => busEvents.push(event));
  });
  afterAll(async () => {
    await service.stop();
    await upstream[Symbol.asyncDispose]();
  });

  /** Sends what has to be taken; what answers is searched, too, but for what records itself. */
  const sent = async (path: string, body: unknown, init: RequestInit = {}): Promise<JsonObject> => {
    const answer = await (path.startsWith('/otel/') ? service : at).post(
      path,
      init.body ? undefined : body,
      init,
    );
    const text = await answer.text();
    expect([path, answer.status, answer.status < 300 ? '' : text]).toEqual([
      path,
      answer.status < 300 ? answer.status : 200,
      '',
    ]);
    answers.push(text);
    return text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {};
  };
  const bearer = () => ({ authorization: `Bearer ${service.key}` });
  const otel = (signal: string, body: JsonObject | Uint8Array<ArrayBuffer>) =>
    sent(`/otel/v1/${signal}`, undefined, {
      headers: {
        authorization: `Basic ${btoa(`api:${service.key}`)}`,
        project_id: project,
        'content-type': body instanceof Uint8Array ? 'application/x-protobuf' : 'application/json',
      },
      body: body instanceof Uint8Array ? body : JSON.stringify(body),
    });
  const infer = async (body: object) => {
    const answer = await fetch(`${service.url}/inference/v1/chat/completions`, {
      method: 'POST',
      headers: { ...bearer(), 'content-type': 'application/json', 'OpenAI-Project': project },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    return answer.text();
  };
  const stored = async (id: string): Promise<JsonObject> => {
    const { call } = await sent('/call/read', { project_id: project, id });
    return call as JsonObject;
  };
  const list = async (query: object): Promise<JsonObject[]> => {
    const answer = await at.post('/calls/stream_query', { project_id: project, ...query });
    const text = await answer.text();
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as JsonObject);
  };

  it('takes reports of calls, and leaves labels, hashes and nothing in the place of secrets', async () => {
    await sent('/call/start', { start: start('one') });
    await sent('/call/end', { end: end('one') });
    await sent('/call/upsert_batch', {
      batch: [
        { mode: 'start', req: { start: start('two', { thread_id: longThread }) } },
        { mode: 'end', req: { end: end('two') } },
        { mode: 'start', req: { start: start('three') } },
      ],
    });
    await sent('/call/update', {
      project_id: project,
      call_id: 'three',
      display_name: `now ${everyName}`,
    });
    const call = await stored('one');
    const inputs = call.inputs as JsonObject;
    expect(inputs.text).toMatch(
      /^\[email:[0-9a-f]{20}\] ; \[phone:[0-9a-f]{20}\] ; \[card\] ; \[iban\] ; {2}; \[ipv6\] ; \[aws_key\] ; \[private_key\] ; Bearer \[bearer_token\] ; \[api_key\] ; \[customer\]$/,
    );
    expect(Object.keys(inputs)).toEqual([
      'text',
      expect.stringMatching(/^to \[email:/),
      'deep',
      'json',
      'number',
    ]);
    expect(inputs.number).toBe('[card]');
    expect(JSON.parse(String(inputs.json))).toMatchObject({ note: '\n[card]' });
    expect(call.exception).toMatch(/^failed for \[email:/);
    expect((call.attributes as { user: { id: string } }).user.id).toMatch(/^\[email:/);
  });

  it('knows a card by numbers that no double keeps, and keeps all others exactly', async () => {
    const numbers = JSON.stringify({ start: start('exact', { inputs: 'numbers' }) });
    const text = numbers.replace(
      '"numbers"',
      '{"card": 4111222233334444007, "big": 12345678901234567890, "one": 1.0}',
    );
    const headers = { 'content-type': 'application/json' };
    expect((await at.post('/call/start', undefined, { headers, body: text })).status).toBe(200);
    const read = await at.post('/call/read', { project_id: project, id: 'exact' });
    expect(await read.text()).toContain('"inputs":{"card":"[card]","big":12345678901234567890,"one":1.0}');
  });

  it('hashes threads and ops, whatever the action, so that equal ones stay together', async () => {
    const one = await stored('one');
    const two = await stored('two');
    expect(one.op_name).toMatch(/^op \[email:[0-9a-f]{20}\]$/);
    expect(one.op_name).toBe(two.op_name);
    const together = await list({ filter: { thread_ids: [one.thread_id] } });
    expect(together.map(({ id }) => id).toSorted()).toEqual(['exact', 'one', 'three']);
    expect(two.thread_id).toMatch(/^(?:\[email|\[name):/);
    expect(String(two.thread_id).length).toBeLessThanOrEqual(256);
  });

  it.runIf(byWeave)('takes what Weave alone has: v2, calls in one, names of ends, labels', async () => {
    const own = { wb_user_id: null };
    await sent(`/v2/${project}/call/start`, { start: { ...start('v2'), ...own } });
    await sent(`/v2/${project}/call/end`, { end: end('v2') });
    await sent(`/v2/${project}/calls/complete`, { batch: [{ ...start('whole'), ...end('whole') }] });
    await sent('/call/start', { start: start('named', { display_name: null }) });
    await sent('/call/end', { end: end('named', { display_name: `named ${everyName}` }) });
    expect((await stored('whole')).display_name).toMatch(/^for \[email:/);
    await sent('/obj/create', { obj: { project_id: project, object_id: 'labelled', val: 1 } });
    const refused = await at.post(
      '/objs/labelled/aliases',
      { project_id: project, digest: 'latest', aliases: ['marked.ada@secretmail.example'] },
      { method: 'PUT' },
    );
    expect(refused.status).toBe(422);
    expect(await refused.text()).not.toContain('marked.ada');
  });

  it('takes spans and log records, in protobuf and JSON', async () => {
    const values = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': model,
      'user.id': secrets.email ?? '',
    };
    const span = spanJson({
      name: `chat ${secrets.email}`,
      attributes: attributes({ ...values, note: everySecret, 'session.id': thread }),
      status: { code: 2, message: everySecret },
      events: [
        {
          name: 'exception',
          timeUnixNano: '1',
          attributes: attributes({ 'exception.message': everySecret }),
        },
      ],
    });
    await otel('traces', exportJson({ 'host.name': everySecret }, [span]));
    const message = spanMessage({
      spanId: new Uint8Array(Buffer.from('aaaaaaaaaaaaaaaa', 'hex')),
      attributes: [textAttribute('note', everySecret)],
    });
    await otel('traces', exportBytes(null, [message]));
    await otel('logs', logsJson(project, recordJson('gen_ai.user.message', { content: everySecret })));
    // A record that waits for its span.
    const waiting = recordJson(
      'gen_ai.user.message',
      { content: everySecret },
      { spanId: 'bbbbbbbbbbbbbbbb' },
    );
    await otel('logs', logsJson(project, waiting));
    await otel('logs', logsJson(project, agentJson('claude_code.user_prompt', { prompt: everySecret })));
    // A question to a person, which is noted under its thread.
    const asking = {
      ...values,
      'gen_ai.operation.name': 'invoke_agent',
      'session.id': `asked ${secrets.email}`,
    };
    const question = { 'gen_ai.output.messages': '[{"parts":[{"type":"tool-approval-request"}]}]' };
    const run = { attributes: attributes({ ...asking, ...question }), spanId: 'cccccccccccccccc' };
    await otel('traces', exportJson({}, [spanJson(run)]));
    const call = await stored(`d269b633813fc60c${spanId}`);
    expect(JSON.stringify(call.inputs)).toContain('[email:');
    expect(call.op_name).toMatch(/^chat \[email:/);
  });

  it('records requests to models, streamed or not, and answers what the model says', async () => {
    const body = { model, messages: [{ role: 'user', content: everySecret }], user: secrets.email };
    upstream.behave(json(completion({ content: everySecret })));
    expect(await infer(body)).toContain('marked.ada');
    upstream.behave(events([event(chunk({ content: `streamed ${everySecret}` })), done]));
    expect(await infer({ ...body, stream: true })).toContain('marked.ada');
    await expect
      .poll(async () => (await list({ filter: { op_names: ['*chat*'] } })).length)
      .toBeGreaterThanOrEqual(0);
    await expect.poll(async () => JSON.stringify(await list({})).match(/"upstream_model"/g)?.length).toBe(2);
  });

  it('stores objects under the digest of what was sent', async () => {
    const digest = door.digests.ofValue(payload);
    const obj = { project_id: project, object_id: 'prompt', val: payload };
    const expected = byWeave ? { expected_digest: digest } : {};
    expect((await sent('/obj/create', { obj: { ...obj, ...expected } })).digest).toBe(digest);
    expect((await sent('/obj/create', { obj })).digest).toBe(digest);
    const { obj: read } = await sent('/obj/read', { project_id: project, object_id: 'prompt', digest });
    const { val } = read as { val: JsonObject };
    expect(val.text).toMatch(/^\[email:/);
    expect(val).not.toHaveProperty('password');
  });

  it('stores rows of tables and text files under the digests of what was sent', async () => {
    const rows = [payload, { other: everySecret }];
    const digests = rows.map((row) => door.digests.ofValue(row as JsonValue));
    const made = await sent('/table/create', { table: { project_id: project, rows } });
    expect(made.row_digests).toEqual(digests);
    const updates = [{ append: { row: { appended: everySecret } } }];
    await sent('/table/update', { project_id: project, base_digest: made.digest, updates });
    const { rows: read } = await sent('/table/query', { project_id: project, digest: made.digest });
    expect((read as { digest: string }[]).map(({ digest }) => digest)).toEqual(digests);
    const content = `text\n${everySecret}`;
    const answer = await fetch(`${at.url}/file/create`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`api:${service.key}`)}` },
      body: form(content),
    });
    const { digest } = (await answer.json()) as { digest: string };
    expect(digest).toBe(door.digests.ofBytes(Buffer.from(content)));
    const file = await at.post('/file/content', { project_id: project, digest });
    expect(await file.text()).toMatch(/^text\n\[email:/);
  });

  it('refuses files that are not text, and says why', async () => {
    const answer = await fetch(`${at.url}/file/create`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`api:${service.key}`)}` },
      body: form(new Uint8Array([0xff, 0xd8, 0xff])),
    });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('should be text in UTF-8');
  });

  it('takes feedback, and answers it as it is stored', async () => {
    const draft = (id: string) => ({
      project_id: project,
      id,
      ...onOne,
      feedback_type: 'note',
      creator: secrets.email,
      payload,
    });
    const created = await sent('/feedback/create', draft('f1'));
    expect((created.payload as JsonObject).text).toMatch(/^\[email:/);
    // The same again is the same record.
    expect(await sent('/feedback/create', draft('f1'))).toEqual(created);
    await sent('/feedback/batch/create', { batch: [draft('f2'), draft('f3')] });
    await sent('/feedback/replace', { ...draft('f4'), feedback_id: 'f2' });
  });

  const note = (id = '') => ({
    project_id: project,
    id,
    ...onOne,
    feedback_type: 'note',
    payload: {},
  });

  const whole = (id: string) => ({ ...start(id), ...end(id) });

  const ofWeave: readonly [string, string, object, string][] = [
    [
      'the id of a start of version 2',
      `/v2/${project}/call/start`,
      { start: start(secrets.email ?? '') },
      'start.id',
    ],
    ['the id of an end of version 2', `/v2/${project}/call/end`, { end: end(secrets.email ?? '') }, 'end.id'],
    [
      'the id of a call in one in a batch',
      `/v2/${project}/calls/complete`,
      { batch: [whole('x'), whole(secrets.email ?? '')] },
      'batch.1.id',
    ],
  ];

  it.each<[string, string, object, string]>([
    ...(byWeave ? ofWeave : []),
    ['the id of a call', '/call/start', { start: start('x', { id: secrets.email }) }, 'start.id'],
    ['a trace', '/call/start', { start: start('x', { trace_id: secrets.api_key }) }, 'start.trace_id'],
    ['the id of an end', '/call/end', { end: end('x', { id: secrets.email }) }, 'end.id'],
    [
      'a trace in a batch',
      '/call/upsert_batch',
      {
        batch: [
          { mode: 'start', req: { start: start('x') } },
          { mode: 'end', req: { end: end('x') } },
          { mode: 'start', req: { start: start('y', { trace_id: secrets.api_key }) } },
        ],
      },
      'batch.2.req.start.trace_id',
    ],
    [
      'the id of an end in a batch',
      '/call/upsert_batch',
      {
        batch: [
          { mode: 'start', req: { start: start('x') } },
          { mode: 'end', req: { end: end('x', { id: secrets.email }) } },
        ],
      },
      'batch.1.req.end.id',
    ],
    ['the id of feedback', '/feedback/create', note(secrets.email), 'id'],
    [
      'the id of feedback in a batch',
      '/feedback/batch/create',
      { batch: [note('x'), note(secrets.email)] },
      'batch.1.id',
    ],
    [
      'the id of an object',
      '/obj/create',
      { obj: { project_id: project, object_id: 'marked.ada@secretmail.example', val: 1 } },
      'obj.object_id',
    ],
  ])(
    'refuses %s that holds a secret, and names its place without repeating it',
    async (_, path, body, place) => {
      const answer = await at.post(path, body);
      const text = await answer.text();
      expect([answer.status, text]).toEqual([422, expect.stringContaining('it is an address')]);
      expect(JSON.parse(text)).toMatchObject({ detail: [{ loc: ['body', ...place.split('.')] }] });
      for (const needle of needles) expect(text).not.toContain(needle);
    },
  );

  it('leaves no secret in any table, bucket, event, Parquet file, answer or log line', async () => {
    // Streams are through once the last report has been told of.
    await sent('/call/start', { start: start('last') });
    await sent('/call/end', { end: end('last') });
    await expect.poll(() => busEvents.filter(({ detail }) => detail.id === 'last').length).toBeGreaterThan(0);
    await expect
      .poll(
        async () => (await readEverything(service)).filter(({ where }) => where.endsWith('.parquet')).length,
        { interval: 500 },
      )
      .toBeGreaterThan(0);
    const places = [
      ...(await readEverything(service)),
      ...busEvents.map((event) => ({ where: 'event', text: JSON.stringify(event) })),
      ...service.logged.map((text) => ({ where: 'log', text })),
      ...answers.map((text) => ({ where: 'answer', text })),
    ];
    const found = places.flatMap(({ where, text }) =>
      needles.flatMap((needle) => (text.includes(needle) ? [`${needle} in ${where}`] : [])),
    );
    expect([...new Set(found)]).toEqual([]);
    expect(places.some(({ text }) => text.includes('[card]'))).toBe(true);
    expect(busEvents.some((event) => JSON.stringify(event).includes('[card]'))).toBe(true);
    expect(places.some(({ where, text }) => where.endsWith('.parquet') && text.includes('[card]'))).toBe(
      true,
    );
  });
});

describe('with rules that drop, a key that may only write', () => {
  const privateKey = '-----BEGIN PRIVATE KEY-----x';
  const judge = {
    model: 'm',
    messages: [{ role: 'user', content: 'Is it polite?' }],
    answer: { type: 'boolean' },
  };
  const evaluator = { name: 'e', on: 'call', sample_rate: 1, judge, max_usd_per_day: 1, enabled: true };
  const limits = { _type: 'Limits', usd_per_day: 1_000_000 };
  const attempts: readonly (readonly [how: string, objectId: string, val: JsonObject])[] = [
    ['its type', 'e', { ...evaluator, _type: `Evaluator${privateKey}` }],
    ['an address in its type', 'limits', { ...limits, _type: 'Limits ada@example.com' }],
    ['the name of its type', 'e', { ...evaluator, [`_type${privateKey}`]: 'Evaluator' }],
    ['a type before the type', 'e', { [`_type${privateKey}`]: 'Evaluator', _type: 'Note', ...evaluator }],
    ['its bases', 'limits', { ...limits, [`_bases${privateKey}`]: [], _bases: [`x${privateKey}`] }],
    ['the fields that hide its type', 'limits', { ...limits, _class_name: null, _bases: ['CUST-1'] }],
    [
      'the name of a judge',
      'e',
      { ...evaluator, _type: 'Evaluator', [`judge${privateKey}`]: judge, judge: null },
    ],
    ['signs that nobody sees', 'limits', { ...limits, _type: 'Limits\u200b' }],
    ['letters that look alike', 'limits', { ...limits, _type: '\u216cimits' }],
  ];
  let service: TestService;
  let authorization: string;
  const redact = [
    ...builtins.map((builtin) => ({ name: builtin, builtin, action: 'drop' })),
    { name: 'customer', pattern: 'CUST-\\d+|[\\x{200b}]', action: 'drop' },
    { name: 'fields', paths: ['val._class_names', 'val.*.secret', 'val.bases'], action: 'drop' },
  ];
  beforeAll(async () => {
    service = await startService({ settings: { redact } });
    authorization = await keyWith(service, { scope: '*', role: 'write' });
  });
  afterAll(() => service.stop());

  const classesIn = async (project_id: string): Promise<unknown> => {
    const query = { project_id, filter: { base_object_classes: ['Evaluator', 'Limits', 'Alert'] } };
    return (await (await service.post('/objs/query', query)).json()) as unknown;
  };

  it.each(attempts)('makes nothing that takes admin by %s', async (how, object_id, val) => {
    const project_id = `acme/drop-${attempts.findIndex(([event]) => event === how)}`;
    const answer = await service.post(
      '/obj/create',
      { obj: { project_id, object_id, val } },
      { headers: { authorization } },
    );
    expect([200, 403, 422]).toContain(answer.status);
    expect(await classesIn(project_id)).toEqual({ objs: [] });
    const stored = await service.post('/refs/read_batch', {
      refs: [`svc:///${project_id}/object/${object_id}:latest`],
    });
    const { vals } = (await stored.json()) as { vals: (JsonObject | null)[] };
    if (answer.status !== 200) expect(vals).toEqual([null]);
    expect(vals[0]?._type).not.toBe('Evaluator');
    expect(JSON.stringify(vals)).not.toMatch(/BEGIN|ada@/);
  });

  it('makes what takes no admin as it was checked, or gets the place that a rule would change', async () => {
    const project_id = 'acme/drop-checked';
    const make = (val: JsonObject) =>
      service.post(
        '/obj/create',
        { obj: { project_id, object_id: 'c', val } },
        { headers: { authorization } },
      );
    const check = { ...evaluator, _type: 'Evaluator', judge: null, check: { contains: 'yes' } };
    expect((await make({ ...check, filter: { op_names: ['chat ada@example.com'] } })).status).toBe(422);
    const refused = await make({ ...check, check: { contains: 'to ada@example.com' } });
    expect([refused.status, await refused.json()]).toEqual([
      422,
      { detail: [expect.objectContaining({ loc: ['body', 'obj', 'val', 'check', 'contains'] })] },
    ]);
    expect((await make(check)).status).toBe(200);
  });

  it('learns by GET /me what the rules look for if it may read something, and nothing otherwise', async () => {
    const ask = async (...grants: Grant[]) => {
      const headers = { authorization: await keyWith(service, ...grants) };
      return (await (await fetch(`${service.url}/me`, { headers })).json()) as JsonObject;
    };
    const scope = parseScope('acme/own') ?? '*';
    expect((await ask({ scope, role: 'read' })).redaction).toEqual(redact);
    expect(await ask({ scope, role: 'report' }, { scope, role: 'inference' })).not.toHaveProperty(
      'redaction',
    );
  });
});
