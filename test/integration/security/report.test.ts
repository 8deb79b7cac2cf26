import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isKeyed } from '../../../api/endpoint.ts';
import { routes } from '../../../api/routes.ts';
import type { JsonObject } from '../../../foundations/wire/index.ts';
import { doorRoutes } from '../../support/endpoints/index.ts';
import { attributes, exportJson, logsJson, recordJson, spanJson } from '../../support/otel/otel.ts';
import { newName } from '../../support/run/new-name.ts';
import { type SharedService, sharedService } from '../../support/service/service.ts';
import { basic, type KeyMaker, keyMaker } from './credentials.ts';

/*
 * What somebody can do who has taken a key with the role `report` out of a page, and knows ids of others. Each
 * attack is tried on a project with data and on one without. The answers are the same, and what the project's
 * own programs have stored, and store afterwards, is what it is without the attack.
 */

let service: SharedService;
let keys: KeyMaker;
/** The key in the page. */
let ofPage: string;
beforeAll(async () => {
  service = await sharedService();
  keys = keyMaker(service);
  ofPage = await keys.granted('*:report');
});
afterAll(() => keys[Symbol.dispose]());

/** A request to a project. */
type Request = (project: string) => { readonly path: string; readonly body: JsonObject };

const send = async (request: Request, project: string, key = ofPage) => {
  const { path, body } = request(project);
  const answer = await service.post(path, body, { headers: { authorization: basic(key) } });
  return { status: answer.status, text: await answer.text() };
};

/** Sends what is expected to succeed. */
const succeed = async (requests: readonly Request[], project: string, key = service.key): Promise<void> => {
  for (const request of requests) {
    const authorization = key === service.key ? basic(key, 'api') : basic(key);
    const { path, body } = request(project);
    const answer = await service.post(path, body, { headers: { authorization } });
    expect([path, answer.status, answer.ok || (await answer.text())]).toEqual([path, 200, true]);
  }
};

const uuid = /[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g;
const time = /"created_at":"[^"]+"/g;

/** A text without what differs from one project, and one time, to the next. */
const neutral = (text: string, project: string): string =>
  text.replaceAll(project, '<project>').replace(uuid, '<id>').replace(time, '"created_at":"<time>"');

/** All that can be read of some calls of a project, or of all, and of its feedback. */
const read = async (project: string, call_ids: readonly string[]): Promise<unknown> => {
  const answers = await Promise.all([
    service.post('/calls/stream_query', {
      project_id: project,
      filter: call_ids.length > 0 ? { call_ids } : {},
      include_feedback: true,
    }),
    service.post('/feedback/query', { project_id: project }),
  ]);
  return Promise.all(answers.map(async (answer) => neutral(await answer.text(), project).split('\n')));
};

/** The traces of calls. */
const readTraces = async (project: string, call_ids: readonly string[]): Promise<string[]> => {
  const body = { project_id: project, filter: { call_ids }, columns: ['trace_id'] };
  const text = await (await service.post('/calls/stream_query', body)).text();
  return text
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).trace_id);
};

const startedAt = '2026-10-01T00:00:00Z';
const endedAt = '2026-10-01T00:00:01Z';

const start = (project: string, id: string, fields: JsonObject = {}): JsonObject => ({
  start: { project_id: project, id, op_name: 'answer', started_at: startedAt, ...fields },
});
const end = (project: string, id: string, fields: JsonObject = {}): JsonObject => ({
  end: { project_id: project, id, ended_at: endedAt, output: 'good', ...fields },
});
const report = (path: string, ...bodies: readonly JsonObject[]) => ({
  path,
  body: { batch: bodies.map((req) => ({ mode: 'start' in req ? 'start' : 'end', req })) },
});
const upsert = (...bodies: readonly JsonObject[]) => report('/call/upsert_batch', ...bodies);

const ours = { trace_id: 'our-trace', thread_id: 'our-thread', inputs: { secret: 'ours' } };
const evil = { op_name: 'evil', inputs: { evil: true } };

/** A call with its end. */
const done: Request = (p) => upsert(start(p, 'c', ours), end(p, 'c'));
const running: Request = (p) => upsert(start(p, 'c', ours));

const feedback = (project: string, fields: JsonObject = {}): JsonObject => ({
  project_id: project,
  id: 'f',
  svc_ref: `svc:///${project}/call/c`,
  feedback_type: 'note',
  payload: { note: 'ours' },
  ...fields,
});
const oneFeedback =
  (fields: JsonObject = {}): Request =>
  (p) => ({ path: '/feedback/create', body: feedback(p, fields) });
const feedbackBatch =
  (...all: readonly JsonObject[]): Request =>
  (p) => ({ path: '/feedback/batch/create', body: { batch: all.map((fields) => feedback(p, fields)) } });
const large = 'x'.repeat(600_000);

const parentId = 'aaaaaaaaaaaaaaaa';
const agent = {
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.input.messages': '[{"role":"user","content":"hi"}]',
};
const chat = { ...agent, 'gen_ai.operation.name': 'chat' };

const spans =
  (...all: readonly JsonObject[]): Request =>
  (p) => ({
    path: '/otel/v1/traces',
    body: exportJson(
      { 'svc.project_id': p },
      all.map(({ values = {}, ...fields }) =>
        spanJson({ attributes: attributes(values as JsonObject), ...fields }),
      ),
    ),
  });
/** The ids of the calls of the spans. */
const spanCall = 'd269b633813fc60ceee19b7ec3c1b174';
const otherSpan = { spanId: 'bbbbbbbbbbbbbbbb' };
const answered = { ...chat, 'gen_ai.response.id': 'resp_1' };

/** A verdict on a call that has not come yet. */
const verdict: Request = (p) => ({
  path: '/otel/v1/logs',
  body: logsJson(
    p,
    recordJson(
      'gen_ai.evaluation.result',
      {
        'gen_ai.evaluation.name': 'Tone',
        'gen_ai.evaluation.score.value': 1,
        'gen_ai.response.id': 'resp_1',
      },
      { traceId: '', spanId: '' },
    ),
  ),
});
/** The messages of a request whose span has not come yet. */
const message: Request = (p) => ({
  path: '/otel/v1/logs',
  body: logsJson(p, recordJson('gen_ai.user.message', { content: 'our question' })),
});

interface Attack {
  readonly name: string;
  /** What the project's own programs have stored. @default - a call with its end */
  readonly before?: readonly Request[];
  /** What the page itself has reported. @default - nothing */
  readonly ofPage?: readonly Request[];
  readonly attack: readonly Request[];
  /** The answer's status. @default 200 */
  readonly status?: number;
  /** What the project's own programs store afterwards, of calls that they had not started. @default - nothing */
  readonly after?: readonly Request[];
  /** The calls that stay as they are. @default `c` */
  readonly calls?: readonly string[];
}

const attacks: readonly Attack[] = [
  {
    name: 'a start replaces a call',
    attack: [(p) => ({ path: '/call/start', body: start(p, 'c', { ...evil, trace_id: 't' }) })],
  },
  {
    name: 'a start moves a call to another trace',
    attack: [(p) => upsert(start(p, 'c', { trace_id: 't' }))],
  },
  {
    name: 'a start without a trace asks for that of the call',
    attack: [(p) => ({ path: '/call/start', body: start(p, 'c') })],
  },
  {
    name: 'a start asks for the trace of its parent',
    attack: [(p) => ({ path: '/call/start', body: start(p, 'new', { parent_id: 'c' }) })],
    status: 422,
  },
  {
    name: 'a batch asks for the trace of its parent',
    attack: [(p) => upsert(start(p, 'new', { parent_id: 'newer' }), start(p, 'newer', { parent_id: 'c' }))],
    status: 422,
  },
  {
    name: 'a start asks for the trace that was reserved for it',
    before: [(p) => upsert(start(p, 'c', { parent_id: 'unborn' }), end(p, 'c'))],
    attack: [(p) => ({ path: '/call/start', body: start(p, 'unborn') })],
  },
  {
    name: 'an end replaces that of a call',
    attack: [(p) => ({ path: '/call/end', body: end(p, 'c', { output: 'evil' }) })],
  },
  {
    name: 'an end replaces one that was reported by itself',
    before: [running, (p) => upsert(end(p, 'c'))],
    attack: [(p) => upsert(end(p, 'c', { exception: 'evil' }))],
  },
  {
    name: 'an end ends a running call',
    before: [running],
    attack: [(p) => ({ path: '/call/end', body: end(p, 'c') })],
  },
  {
    name: 'a batch replaces calls among new ones',
    before: [done, (p) => upsert(start(p, 'd', ours))],
    attack: [
      (p) =>
        upsert(
          start(p, 'c', evil),
          end(p, 'c'),
          start(p, 'd', evil),
          end(p, 'd'),
          start(p, 'new'),
          end(p, 'new'),
        ),
    ],
    calls: ['c', 'd'],
  },
  {
    name: 'a call comes with an end before its own start does',
    before: [(p) => upsert(end(p, 'c'))],
    attack: [(p) => upsert(start(p, 'c', { ...evil, trace_id: 't' }), end(p, 'c', { output: 'evil' }))],
    after: [running],
  },
  {
    name: 'a call is reported before its own program does',
    before: [],
    attack: [(p) => upsert(start(p, 'c', { ...evil, trace_id: 't' }), end(p, 'c', { output: 'evil' }))],
    after: [done],
  },
  {
    name: 'a visitor replaces the call of another',
    before: [],
    ofPage: [done],
    attack: [(p) => upsert(start(p, 'c', { ...evil, trace_id: 't' }), end(p, 'c', { output: 'evil' }))],
  },
  {
    name: 'a visitor replaces the end of another',
    before: [],
    ofPage: [running, (p) => upsert(end(p, 'c'))],
    attack: [(p) => upsert(end(p, 'c', { output: 'evil', exception: 'evil' }))],
  },
  {
    name: "Weave's start replaces a call",
    attack: [(p) => ({ path: '/weave/call/start', body: start(p, 'c', evil) })],
  },
  {
    name: "Weave's end names a call",
    before: [running],
    attack: [(p) => ({ path: '/weave/call/end', body: end(p, 'c', { display_name: 'evil' }) })],
  },
  {
    name: "Weave's batch replaces a call",
    attack: [(p) => report('/weave/call/upsert_batch', start(p, 'c', evil), end(p, 'c'))],
  },
  {
    name: "Weave's newer routes replace a call",
    attack: [
      (p) => ({ path: `/weave/v2/${p}/call/start`, body: start(p, 'c', evil) }),
      (p) => ({ path: `/weave/v2/${p}/call/end`, body: end(p, 'c', { output: 'evil' }) }),
      (p) => ({
        path: `/weave/v2/${p}/calls/complete`,
        body: {
          batch: [
            {
              ...(start(p, 'c', { ...evil, trace_id: 't' }).start as JsonObject),
              ended_at: endedAt,
              output: 1,
              summary: {},
            },
          ],
        },
      }),
    ],
  },
  { name: 'feedback asks whether it is there', before: [done, oneFeedback()], attack: [oneFeedback()] },
  {
    name: 'feedback asks whether there is other under its id',
    before: [done, oneFeedback()],
    attack: [oneFeedback({ payload: { note: 'evil' } })],
  },
  {
    name: 'feedback under a taken id lies in the bucket',
    before: [done, oneFeedback({ payload: { note: large } })],
    attack: [oneFeedback({ payload: { note: `${large}evil` } })],
  },
  {
    name: 'a batch of feedback asks whether ids are taken',
    before: [done, oneFeedback()],
    attack: [feedbackBatch({ payload: { note: 'evil' } })],
  },
  {
    name: 'feedback comes back that was replaced',
    before: [
      done,
      oneFeedback(),
      (p) => ({ path: '/feedback/replace', body: { ...feedback(p, { id: 'g' }), feedback_id: 'f' } }),
    ],
    attack: [oneFeedback({ payload: { note: 'evil' } })],
  },
  ...(
    [
      { feedback_type: 'evaluation.Tone', payload: { value: 1 } },
      { runnable_ref: 'svc:///acme/x/object/Tone:0123456789012345678901234567890123456789012' },
      { call_ref: 'svc:///acme/x/call/c' },
    ] as const
  ).map((fields) => ({
    name: `feedback passes for that of an evaluator: ${Object.keys(fields)[0]}`,
    attack: [oneFeedback(fields)],
    status: 403,
  })),
  {
    name: 'a span replaces another',
    before: [spans({ values: { text: 'ours' } })],
    attack: [spans({ name: 'evil', values: { text: 'evil' } })],
    calls: [spanCall],
  },
  {
    name: "a span at Weave's door replaces another",
    before: [spans({ values: { text: 'ours' } })],
    attack: [
      (p) => ({
        ...spans({ name: 'evil', values: { text: 'evil' } })(p),
        path: '/weave/agents/otel/v1/traces',
      }),
    ],
    calls: [spanCall],
  },
  {
    name: 'a span is the parent that others wait for, and takes them to another thread',
    before: [spans({ parentSpanId: parentId, values: chat })],
    attack: [spans({ spanId: parentId, values: { ...agent, 'session.id': 'evil', 'user.id': 'evil' } })],
    calls: [spanCall],
  },
  {
    name: 'spans bring others to another thread as what they know of their trace',
    before: [spans({ values: { ...chat, 'session.id': 'ours' } })],
    attack: [
      spans(
        { values: { ...agent, 'session.id': 'evil' }, parentSpanId: parentId },
        { ...otherSpan, parentSpanId: 'cccccccccccccccc' },
      ),
      spans({ spanId: parentId, values: { ...agent, 'session.id': 'evil' } }),
    ],
    calls: [spanCall],
  },
  {
    name: 'a span takes the verdict that waits for another',
    before: [verdict],
    attack: [spans({ ...otherSpan, values: answered })],
    after: [spans({ values: answered })],
    calls: [spanCall],
  },
  {
    name: 'a span takes the messages that wait for another',
    before: [message],
    attack: [spans({ name: 'evil', values: { 'gen_ai.operation.name': 'chat' } })],
    after: [spans({ values: { 'gen_ai.operation.name': 'chat' } })],
    calls: [spanCall],
  },
  {
    name: 'a span brings a verdict',
    before: [spans({ values: chat })],
    attack: [
      spans({
        ...otherSpan,
        parentSpanId: 'eee19b7ec3c1b174',
        name: 'gen_ai.evaluation.result',
        values: { 'gen_ai.evaluation.name': 'Tone', 'gen_ai.evaluation.score.value': 0 },
      }),
    ],
    calls: [spanCall],
  },
];

describe('who has the key of a page', () => {
  it.each(attacks)(
    'gains nothing if $name',
    async ({ before = [done], ofPage: reported = [], attack, status = 200, after = [], calls = ['c'] }) => {
      const [attacked = '', control = '', empty = ''] = ['attacked', 'control', 'empty'].map((name) =>
        newName(`acme/${name}`),
      );
      for (const project of [attacked, control]) {
        await succeed(before, project);
        await succeed(reported, project, ofPage);
      }
      expect(await read(attacked, calls)).toEqual(await read(control, calls));
      const traces = await readTraces(attacked, calls);
      for (const request of attack) {
        const answer = await send(request, attacked);
        const ofEmpty = await send(request, empty);
        expect([answer.status, neutral(answer.text, attacked)]).toEqual([
          status,
          neutral(ofEmpty.text, empty),
        ]);
        const { body } = request(attacked);
        for (const trace of traces)
          if (!JSON.stringify(body).includes(trace)) expect(answer.text).not.toContain(trace);
      }
      for (const project of [attacked, control]) await succeed(after, project);
      expect(await read(attacked, calls)).toEqual(await read(control, calls));
    },
  );
});

/** The routes that add, at both doors. Metrics are dropped. */
const adding = [...routes, ...doorRoutes].filter(
  (route) => isKeyed(route) && route.role === 'report' && Object.keys(route.stores).length > 0,
);

it('every route of the role is attacked', () => {
  const attacked = new Set(
    attacks.flatMap(({ attack }) => attack.map((request) => request('acme/shop').path)),
  );
  const toPath = ({ path }: { readonly path: string }) =>
    path.replace('{entity}', 'acme').replace('{project}', 'shop');
  expect(adding.map(toPath).filter((path) => !attacked.has(path))).toEqual([]);
});

describe('a page', () => {
  /** A page reports in these requests, whose calls are then as with a key that may write. */
  const flows: Readonly<Record<string, readonly Request[]>> = {
    'a start and its end in one request': [done],
    'a start, then its end': [running, (p) => ({ path: '/call/end', body: end(p, 'c') })],
    'an end, then its start': [(p) => ({ path: '/call/end', body: end(p, 'c') }), running],
    'a start, then both': [running, done, done],
    'a failure before its start': [(p) => upsert(end(p, 'c', { exception: 'broken' })), running],
    'everything twice': [running, running, (p) => upsert(end(p, 'c')), (p) => upsert(end(p, 'c'))],
    'calls below each other, without a trace': [
      (p) => upsert(start(p, 'd', { parent_id: 'c' }), start(p, 'c'), end(p, 'c'), end(p, 'd')),
    ],
    'a call with a name of its end': [
      (p) => report('/weave/call/upsert_batch', start(p, 'c', ours), end(p, 'c', { display_name: 'named' })),
    ],
    'spans of a conversation': [
      spans(
        { spanId: parentId, values: { ...agent, 'session.id': 'ours' } },
        { parentSpanId: parentId, values: chat },
      ),
    ],
    'feedback, twice': [done, oneFeedback(), oneFeedback()],
  };

  it.each(Object.entries(flows))('reports %s', async (_, requests) => {
    const byPage = newName('acme/page');
    const byProgram = newName('acme/program');
    const ofProgram = await keys.granted('acme/*:write');
    await succeed(requests, byPage, ofPage);
    await succeed(requests, byProgram, ofProgram);
    expect(await read(byPage, [])).toEqual(await read(byProgram, []));
    const [calls] = (await read(byPage, [])) as string[][];
    expect(calls?.[0]).toContain('"svc_user_id":"bob"');
  });

  it('replaces nothing in any project of a request, if it may only report to one of them', async () => {
    const own = newName('acme/own');
    const other = newName('acme/other');
    const key = await keys.granted(`${own}:write ${other}:report`);
    await succeed([done], own);
    await succeed([done], other);
    const before = await Promise.all([own, other].map((project) => read(project, ['c'])));
    const batch = [own, other].flatMap((project) => upsert(start(project, 'c', evil)).body.batch);
    await succeed([() => ({ path: '/call/upsert_batch', body: { batch } })], '', key);
    expect(await Promise.all([own, other].map((project) => read(project, ['c'])))).toEqual(before);
    await succeed([(p) => upsert(start(p, 'c', evil))], own, key);
    expect(await read(own, ['c'])).not.toEqual(before[0]);
  });

  it('writes over no note of a dropped export', async () => {
    const project = newName('acme/dropped');
    for (const key of [ofPage, await keys.granted('acme/*:write')]) {
      // One span is taken, and one is not.
      const { path, body } = spans(otherSpan, { traceId: 'none' })(project);
      const headers = {
        authorization: basic(key),
        project_id: project,
        'user-agent': key === ofPage ? 'page' : 'program',
      };
      for (const sent of [body, { resourceSpans: 'none' }]) await service.post(path, sent, { headers });
      const answer = await service.post('/projects/query', { include_dropped: true });
      const { dropped } = (await answer.json()) as { dropped: { project_id: string; program: string }[] };
      const notes = dropped.filter(({ project_id }) => project_id === project);
      expect(notes.map(({ program }) => program)).toEqual(key === ofPage ? [] : ['program']);
    }
  });

  it('gets a 413 for more than 1 MiB, also packed', async () => {
    const project = newName('acme/large');
    const most = 1024 * 1024;
    const inputs = { text: 'x'.repeat(most) };
    expect(
      await send((p) => ({ path: '/call/start', body: start(p, 'c', { inputs }) }), project),
    ).toMatchObject({
      status: 413,
      text: expect.stringContaining('with a key of the role report'),
    });
    const { path, body } = spans({ values: inputs })(project);
    for (const [packing, bytes] of [
      ['identity', Buffer.from(JSON.stringify(body))],
      ['gzip', gzipSync(JSON.stringify(body))],
    ] as const) {
      const headers = { authorization: basic(ofPage), 'content-encoding': packing };
      const answer = await service.post(path, undefined, { headers, body: bytes });
      expect([packing, answer.status]).toEqual([packing, 413]);
    }
    expect(await read(project, [])).toEqual([[''], ['{"result":[]}', '']]);
    await succeed([spans({ values: inputs })], project);
  });

  it('gets a 413 for a long resource that each of many spans would hold', async () => {
    const project = newName('acme/resource');
    const body = exportJson(
      { 'svc.project_id': project, text: 'x'.repeat(300_000) },
      Array.from({ length: 20 }, (_, i) => spanJson({ spanId: `${i}`.padStart(16, 'a') })),
    );
    const request = () => ({ path: '/otel/v1/traces', body });
    expect(await send(request, project)).toMatchObject({
      status: 413,
      text: expect.stringContaining('resources of more than 4194304 bytes'),
    });
    expect(await read(project, [])).toEqual([[''], ['{"result":[]}', '']]);
    await succeed([request], project);
  });

  // Any key may send exports that name no project, so metrics and log records are unpacked before it is refused.
  it.each([...routes, ...doorRoutes].flatMap(({ path, form }) => (form === 'otlp' ? [path] : [])))(
    'gets a 413 for an export of more than 1 MiB at %s',
    async (path) => {
      const project = newName('acme/large');
      const resource = {
        attributes: attributes({ 'svc.project_id': project, text: 'x'.repeat(1024 * 1024) }),
      };
      const body = JSON.stringify({
        resourceSpans: [{ resource }],
        resourceLogs: [{ resource }],
        resourceMetrics: [{ resource }],
      });
      const headers = { authorization: basic(ofPage), 'content-encoding': 'gzip' };
      const answer = await service.post(path, undefined, { headers, body: gzipSync(body) });
      expect([answer.status, await answer.text()]).toEqual([
        413,
        expect.stringContaining('at most 1048576 bytes'),
      ]);
    },
  );
});
