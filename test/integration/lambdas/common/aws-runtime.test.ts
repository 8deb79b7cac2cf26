import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import type { ContainerOptions } from 'cdk-local-runner/runtime';
import { type FunctionSpec, readStack } from 'cdk-local-runner/template';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import type { JsonObject, ProjectId } from '../../../../foundations/wire/index.ts';
import { mcpHeaders } from '../../../support/endpoints/agents.ts';
import { makeFeedback } from '../../../support/endpoints/fixture.ts';
import { calls, fileForm, noise, report } from '../../../support/endpoints/scenario.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from '../../../support/faults/faulty-proxy.ts';
import { root, temporaryFolder } from '../../../support/run/project.ts';
import { newKey } from '../../../support/service/keys.ts';
import { AwsContainer, type Taking } from '../../../support/service/lambda/container.ts';
import { linesOfTheLog } from '../../../support/service/log-lines.ts';
import { startService, type TestService } from '../../../support/service/service.ts';
import {
  chunk,
  completion,
  event,
  events,
  json,
  startUpstream,
  type TestUpstream,
} from '../../../support/service/upstream.ts';
import { assemblyWith } from '../../../support/stack/assembly.ts';

/* The deployed bundles under the client of the runtime API that Lambda runs them with. */

/** The bundle of a function, with bounds on its answers that a test can reach. */
const withBounds = (spec: FunctionSpec): FunctionSpec => {
  const file = join(spec.folder, 'index.cjs');
  const text = readFileSync(file, 'utf8');
  const bounded = text
    .replace('stalledMs:6e4', 'stalledMs:1500')
    .replace('answerBytes:199e6', 'answerBytes:26e6');
  if (bounded === text) return spec;
  const folder = temporaryFolder();
  cpSync(spec.folder, folder, { recursive: true });
  writeFileSync(join(folder, 'index.cjs'), bounded);
  return { ...spec, folder };
};

/** All containers so far. */
const containers: AwsContainer[] = [];
/** How the runtime API takes streamed answers. */
let taking: Taking = 'whole';
const startContainer = (options: ContainerOptions) => {
  const container = new AwsContainer({ ...options, spec: withBounds(options.spec) }, () => taking);
  containers.push(container);
  return container;
};

/** The one call of a project, once it is there. */
const recorded = async (projectId: string): Promise<JsonObject> => {
  let text = '';
  await expect
    .poll(async () => {
      text = await (
        await service.post('/calls/stream_query', { project_id: projectId, columns: ['id', 'exception'] })
      ).text();
      return text;
    })
    .not.toBe('');
  return JSON.parse(text);
};

let service: TestService;
let upstream: TestUpstream;
let proxies: [toDynamodb: FaultyProxy, toS3: FaultyProxy];
/** What happens to a request to a store. */
let decide: (operation: string) => Fault = () => 'none';
const project = 'acme/runtime';
/** Reported so many calls at once, which are longer together than all buffers of connections. */
const count = 25;
const reports = 6;
/** A file of the project. */
let file = '';

beforeAll(async () => {
  containers.length = 0;
  upstream = await startUpstream();
  const { dynamodb, s3 } = inject('stores');
  proxies = [
    await startFaultyProxy(dynamodb, ({ operation }) => decide(operation)),
    await startFaultyProxy(s3, ({ operation }) => decide(operation)),
  ];
  service = await startService({
    dynamodb: proxies[0].endpoint,
    s3: proxies[1].endpoint,
    inference: { baseUrl: upstream.baseUrl },
    settings: { events: true },
    maxWindowMs: 50,
    maxTimeoutSeconds: 30,
    // One container a function: the next request comes to the one that served the last.
    concurrency: { maxWorkers: 1, maxWaiting: 100 },
    startContainer,
  });
  for (let i = 0; i < reports; i++) {
    const batch = calls(project, count, { inputs: { text: noise(190_000) } });
    const text = JSON.stringify(report(...batch).body).replaceAll(/"id":"(\d+)"/g, `"id":"${i}-$1"`);
    expect((await service.post('/call/upsert_batch', JSON.parse(text))).status).toBe(200);
  }
  const form = fileForm(project, 'content');
  const made = await service.post(form.path, {}, { headers: { ...form.headers }, body: String(form.body) });
  file = ((await made.json()) as { digest: string }).digest;
});
afterAll(async () => {
  await service.stop();
  for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});
afterEach(() => {
  taking = 'whole';
  decide = () => 'none';
  expect(containers.filter(({ dead }) => dead).map(({ options }) => options.spec.name)).toEqual([]);
});

const model = 'gpt-test';
const otlp = { 'content-type': 'application/json', project_id: project };
const post = (path: string, body: object, more: RequestInit = {}) =>
  service.post(path, { project_id: project, ...body }, more);
const basic = (key: string) => `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
const bearer = () => ({ authorization: `Bearer ${service.key}` });
const chat = (body: object, project?: string) =>
  service.post(
    '/inference/v1/chat/completions',
    { model, messages: [], ...body },
    { headers: { ...bearer(), ...(project !== undefined && { 'openai-project': project }) } },
  );
const mcp = (message: object) => service.post('/mcp', message, { headers: { ...bearer(), ...mcpHeaders } });

/** Requests to one endpoint of each kind: one that is answered, and one that is refused. */
const kinds: readonly (readonly [
  kind: string,
  good: () => Promise<Response>,
  bad: () => Promise<Response>,
])[] = [
  [
    'buffered',
    () => post('/feedback/create', makeFeedback(project)),
    () => post('/feedback/create', { payload: 7 }),
  ],
  [
    'JSON, streamed',
    () => post('/calls/query_stats', {}),
    () => post('/calls/query_stats', { limit: 'many' }),
  ],
  [
    'records, streamed',
    () => post('/calls/stream_query', { columns: ['id'] }),
    () => post('/calls/stream_query', { limit: 'many' }),
  ],
  [
    'bytes, streamed',
    () => post('/file/content', { digest: file }),
    () => post('/file/content', { digest: 7 }),
  ],
  [
    'spans',
    () => service.post('/otel/v1/traces', { resourceSpans: [] }, { headers: otlp }),
    () => service.post('/otel/v1/traces', { resourceSpans: 7 }, { headers: otlp }),
  ],
  [
    'of the Model Context Protocol',
    () => mcp({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    () => mcp({ jsonrpc: '1.0' }),
  ],
  ['passed on', () => chat({}), () => chat({ model: 7 })],
];

const chatBody = { model, messages: [], stream: true };
/** An answer that is as long as it is. */
const plain = { 'accept-encoding': 'identity' };

/** The line of the log about a request. */
const findLine = async (id: string | null): Promise<Record<string, unknown>> => {
  const found = () =>
    linesOfTheLog(service.logged).find(({ message, requestId }) => message === 'request' && requestId === id);
  await expect.poll(found).toBeDefined();
  return found() ?? {};
};
describe.each(kinds)('an answer that is %s', (_, good, bad) => {
  it('comes', async () => {
    upstream.behave(json(completion({ content: 'Hello' })));
    const response = await good();
    expect(response.status).toBe(200);
    await response.text();
    expect(await findLine(response.headers.get('x-request-id'))).toMatchObject({ outcome: 'answered' });
  });

  it('is a refusal where it has to be, and the next is not', async () => {
    upstream.behave(json(completion({ content: 'Hello' })));
    const refused = await bad();
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.status).toBeLessThan(500);
    await refused.text();
    expect(await findLine(refused.headers.get('x-request-id'))).toMatchObject({ outcome: 'refused' });
    expect((await good()).status).toBe(200);
  });
});

it('a key that is refused ends no authorizer', async () => {
  const stranger = { authorization: basic('svc_nobody') };
  expect((await post('/calls/query_stats', {}, { headers: stranger })).status).toBe(401);
  const key = await newKey(service, { scope: project as ProjectId, role: 'read' });
  const known = { authorization: basic(key) };
  expect((await post('/calls/query_stats', {}, { headers: known })).status).toBe(200);
});

it('records of streams become events', async () => {
  const messages: unknown[] = [];
  service.bus.subscribe(({ detail }) => messages.push(detail.id));
  const { path, body } = report(...calls('acme/told', 1));
  await service.post(path, body);
  await expect.poll(() => messages).toContain('0');
});

it('a function that cannot be loaded writes what counts as a failure', async () => {
  const lines: string[] = [];
  const [spec] = readStack(await assemblyWith()).functions;
  if (!spec) throw new Error('the stack has no function');
  const folder = join(root, 'packages/cdk-local-runner/test/fixtures/broken');
  const container = new AwsContainer({
    spec: { ...spec, folder },
    environment: {},
    log: (line) => lines.push(line),
  });
  await expect(container.started).rejects.toThrow('it does not even load');
  await container.terminate('over');
  const [template = ''] = readdirSync(await assemblyWith()).filter((name) => name.endsWith('.template.json'));
  const text = readFileSync(join(await assemblyWith(), template), 'utf8');
  const counted = [...text.matchAll(/\?\\"([^"\\]+)\\"/g)].map(([, term = '']) => term);
  expect(counted).toContain('Status: error');
  expect(lines.filter((line) => counted.some((term) => line.includes(term)))).toEqual([
    expect.stringContaining('ERROR\tInit Error'),
  ]);
});

describe('an answer that breaks midway', () => {
  it.each([undefined, 'acme/broken'])('upstream ends no process, with the project %s', async (project) => {
    upstream.behave(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(event(chunk({ content: 'half' })));
      setTimeout(() => res.destroy(), 50);
    });
    const response = await chat({ stream: true }, project);
    await expect(response.text()).rejects.toThrow();
    expect(await findLine(response.headers.get('x-request-id'))).toMatchObject({
      outcome: 'broken',
      failed: 1,
    });
    if (project)
      expect(await recorded(project)).toMatchObject({ exception: 'the upstream local broke its answer off' });
  });

  it('in storage ends no process', async () => {
    const response = await post('/calls/stream_query', {}, { headers: plain });
    expect(response.status).toBe(200);
    // The rest is not read before somebody takes what is there.
    decide = () => 'refuse';
    await expect(response.text()).rejects.toThrow();
    expect(await findLine(response.headers.get('x-request-id'))).toMatchObject({
      outcome: 'broken',
      failed: 1,
    });
  });

  it('for the time that its caller gave it ends no process', async () => {
    upstream.behave(async ({ aborted }, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(event(chunk({ content: 'so far' })));
      await aborted;
    });
    const response = await chat({ stream: true, timeout: 0.3 }, 'acme/late');
    await expect(response.text()).rejects.toThrow();
    expect(await findLine(response.headers.get('x-request-id'))).toMatchObject({ outcome: 'timed_out' });
    expect(await recorded('acme/late')).toMatchObject({ exception: expect.stringContaining('within 0.3 s') });
  });

  it('for its length ends no process', async () => {
    const response = await post('/calls/stream_query', {}, { headers: plain });
    await expect(response.text()).rejects.toThrow();
    expect(await findLine(response.headers.get('x-request-id'))).toMatchObject({ outcome: 'refused' });
  });

  it('before it begins is an error as any other', async () => {
    decide = () => 'refuse';
    const answers = await Promise.all([
      post('/calls/stream_query', {}),
      post('/calls/query_stats', {}),
      post('/feedback/create', makeFeedback(project)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([500, 500, 500]);
  });
});

/** Sends a request, and leaves when the answer has begun. */
const leave = async (path: string, body: object, headers: object): Promise<void> => {
  const req = request(`${service.url}${path}`, {
    method: 'POST',
    headers: { authorization: basic(service.key), 'content-type': 'application/json', ...headers },
  });
  req.on('error', () => {});
  req.end(JSON.stringify(body));
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  res.on('error', () => {});
  await once(res, 'readable');
  req.destroy();
};

/** Events of 30 MB: more than all buffers on their way. */
const long = events(Array.from({ length: 600 }, () => event(chunk({ content: noise(50_000) }))));

describe('a client that leaves', () => {
  it('ends no process with an answer that is passed on, and the request is recorded', async () => {
    upstream.behave(long);
    const project = 'acme/left';
    await leave('/inference/v1/chat/completions', chatBody, { ...bearer(), 'openai-project': project });
    expect(await recorded(project)).toMatchObject({ op_name: 'openai.chat.completions.create' });
  });

  it('ends no process with an answer of records', async () => {
    const from = service.logged.length;
    await leave('/calls/stream_query', { project_id: project, limit: 90 }, {});
    await expect.poll(() => linesOfTheLog(service.logged.slice(from))).not.toEqual([]);
    expect((await post('/calls/stream_query', { columns: ['id'] })).status).toBe(200);
  });
});

describe.each(['stalling', 'breaking'] as const)('a connection that is %s', (how) => {
  it('ends no process with an answer that is passed on, and the request is recorded', async () => {
    upstream.behave(long);
    const project = `acme/${how}`;
    taking = how;
    const response = await chat({ stream: true }, project);
    await expect(response.text()).rejects.toThrow();
    taking = 'whole';
    expect(await findLine(response.headers.get('x-request-id'))).toMatchObject({
      outcome: 'gone',
      failed: 0,
    });
    expect(await recorded(project)).toMatchObject({ exception: 'the client has gone' });
  });

  it('ends no process with an answer of records', async () => {
    taking = how;
    const response = await post('/calls/stream_query', {}, { headers: plain });
    await expect(response.text()).rejects.toThrow();
    taking = 'whole';
    expect(await findLine(response.headers.get('x-request-id'))).toMatchObject({
      outcome: 'gone',
      failed: 0,
    });
    expect((await post('/calls/stream_query', { columns: ['id'] })).status).toBe(200);
  });
});
