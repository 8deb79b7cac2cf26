import { randomBytes } from 'node:crypto';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import { captureNames, readCapture } from '../../../../support/otel/captures.ts';
import {
  attributes,
  callId,
  decodeAnswer,
  decodeStatus,
  exportBytes,
  exportJson,
  spanExport,
  spanId,
  spanJson,
  spanMessage,
  startNanos,
  textAttribute,
  traceId,
} from '../../../../support/otel/otel.ts';
import { sample } from '../../../../support/run/sampling.ts';
import { basic, bearer, keyMaker } from '../../../security/credentials.ts';
import { writerFor } from './writer.ts';

const protobuf = 'application/x-protobuf';
const json = 'application/json';

const writer = writerFor('otel');
const { newProject } = writer;

const send = (
  body: Uint8Array<ArrayBuffer> | string,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${writer.service.url}/otel/v1/traces`, {
    method: 'POST',
    headers: { authorization: bearer(writer.key), 'content-type': type, ...headers },
    body,
  });

/** Sends JSON that is expected to be taken, and gives the answer. */
const sendJson = async (body: JsonObject, headers = {}): Promise<JsonObject> => {
  const answer = await send(JSON.stringify(body), json, headers);
  const text = await answer.text();
  expect([answer.status, text]).toEqual([200, expect.anything()]);
  return JSON.parse(text) as JsonObject;
};

const readBytes = async (answer: Response): Promise<Uint8Array> => new Uint8Array(await answer.arrayBuffer());

const read = async (project: string, id = callId): Promise<JsonObject> => {
  const answer = await writer.service.post('/call/read', {
    project_id: project,
    id,
    include_storage_size: true,
  });
  return ((await answer.json()) as { call: JsonObject }).call;
};

const ids = async (project: string): Promise<string[]> => {
  const answer = await writer.service.post('/calls/stream_query', { project_id: project, columns: ['id'] });
  return (await answer.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { id: string }).id);
};

describe('a span', () => {
  it('becomes a call', async () => {
    const project = newProject();
    const parentSpanId = '00f067aa0ba902b7';
    const span = spanJson({
      parentSpanId,
      traceState: 'a=b',
      attributes: attributes({ 'http.method': 'GET', http: 'yes', order: '{"id": 17}', 'user.id': 'eve' }),
      events: [{ name: 'retry', timeUnixNano: String(startNanos), attributes: attributes({ 'try.no': 2 }) }],
      links: [{ traceId, spanId: parentSpanId, attributes: [] }],
      status: { code: 2, message: 'no such order' },
      droppedEventsCount: 3,
    });
    expect(await sendJson(exportJson({ 'svc.project_id': project, 'service.name': 'shop' }, [span]))).toEqual(
      {},
    );
    expect(await read(project)).toEqual({
      project_id: project,
      id: callId,
      op_name: 'find_order',
      display_name: null,
      trace_id: traceId,
      parent_id: `d269b633813fc60c${parentSpanId}`,
      thread_id: null,
      turn_id: null,
      started_at: '2026-10-01T00:00:00.123456Z',
      ended_at: '2026-10-01T00:00:01.623456Z',
      attributes: {
        http: { value: 'yes', method: 'GET' },
        order: { id: 17 },
        user: { id: 'eve' },
        kind: 'other',
        otel: {
          span_kind: 'client',
          scope: { name: 'shop', version: '1.2' },
          resource: { svc: { project_id: project }, service: { name: 'shop' } },
          events: [{ name: 'retry', time: '2026-10-01T00:00:00.123456Z', attributes: { try: { no: 2 } } }],
          links: [{ trace_id: traceId, span_id: parentSpanId, id: `d269b633813fc60c${parentSpanId}` }],
          status: { code: 'error', message: 'no such order' },
          trace_state: 'a=b',
          dropped: { events: 3 },
        },
      },
      inputs: {},
      output: null,
      exception: 'no such order',
      summary: { svc: { status: 'error', latency_ms: 1500, trace_name: 'find_order' } },
      svc_user_id: 'bob',
      svc_run_id: null,
      svc_run_step: null,
      svc_run_step_end: null,
      storage_size_bytes: expect.any(Number),
    });
  });

  it('is the same call in protobuf and in JSON', async () => {
    const one = newProject();
    const other = newProject();
    await send(exportBytes(one, [spanMessage({ attributes: [textAttribute('a.b', 'c')] })]), protobuf);
    await sendJson(
      exportJson({ 'svc.project_id': other }, [
        spanJson({ kind: 0, attributes: attributes({ 'a.b': 'c' }) }),
      ]),
    );
    const ofOther = JSON.stringify(await read(other))
      .replaceAll(other, one)
      .replace('"1.2"', '""');
    const { storage_size_bytes: _, ...call } = await read(one);
    expect(JSON.parse(ofOther.replace(',"version":""', ''))).toMatchObject(call);
  });

  it('belongs to the turn that is topmost in its thread', async () => {
    const project = newProject();
    const makeSpan = (id: string, parent: string | undefined, thread?: string) =>
      spanJson({
        spanId: id.repeat(16),
        ...(parent !== undefined && { parentSpanId: parent.repeat(16) }),
        attributes: thread === undefined ? [] : attributes({ 'session.id': thread }),
      });
    const spans = [
      makeSpan('3', '2'),
      makeSpan('2', '1', 't'),
      makeSpan('1', undefined),
      makeSpan('5', '4', 't'),
    ];
    await sendJson(exportJson({ 'svc.project_id': project }, spans));
    const placed = await Promise.all(
      ['1', '2', '3', '5'].map(async (id) => {
        const { thread_id, turn_id } = await read(project, `${traceId.slice(16)}${id.repeat(16)}`);
        return [thread_id, turn_id];
      }),
    );
    const turn = `${traceId.slice(16)}${'2'.repeat(16)}`;
    // The last one's parent is elsewhere, and may be its turn.
    expect(placed).toEqual([
      [null, null],
      ['t', turn],
      ['t', turn],
      ['t', null],
    ]);
  });
});

describe('an answer', () => {
  it('to protobuf is protobuf, empty when all is taken', async () => {
    const answer = await send(exportBytes(newProject(), [spanMessage()]), protobuf);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, protobuf]);
    expect(answer.headers.get('x-request-id')).toBeTruthy();
    expect(await readBytes(answer)).toHaveLength(0);
  });

  it('counts the spans that cannot be taken, and takes the others', async () => {
    const project = newProject();
    const zero = new Uint8Array(16);
    const spans = [
      spanMessage(),
      spanMessage({ traceId: zero, name: 'zeros' }),
      spanMessage({ spanId: new Uint8Array(7).fill(1) }),
      spanMessage({ startTimeUnixNano: 0n, endTimeUnixNano: 0n }),
      spanMessage({ startTimeUnixNano: 2n ** 63n - 1n }),
    ];
    const answer = await send(exportBytes(project, spans), protobuf);
    expect(answer.status).toBe(200);
    const { rejected, message } = decodeAnswer(await readBytes(answer));
    expect(rejected).toBe(4);
    expect(message).toContain('span "zeros": trace_id should be 16 bytes that are not all zero');
    expect(message).toContain('span_id should be 8 bytes');
    expect(message).toContain('both zero');
    expect(message).toContain('start_time_unix_nano should be');
    expect(await ids(project)).toEqual([callId]);
  });

  it('counts messages of MCP that are a trace of their own, and keeps those within a trace', async () => {
    const project = newProject();
    const makeMcpSpan = (id: string, method: string, fields: JsonObject = {}): JsonObject =>
      spanJson({ spanId: id, attributes: attributes({ 'mcp.method.name': method }), ...fields });
    const [list, tool] = ['2', '3'].map((digit) => digit.repeat(16)) as [string, string];
    const answer = await sendJson(
      exportJson({ 'svc.project_id': project }, [
        makeMcpSpan('1'.repeat(16), 'server/discover'),
        makeMcpSpan(list, 'tools/list', { parentSpanId: spanId }),
        makeMcpSpan(tool, 'tools/call'),
        spanJson(),
      ]),
    );
    expect(answer).toEqual({
      partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining('MCP') },
    });
    const kept = [spanId, list, tool].map((id) => callId.slice(0, 16) + id);
    expect((await ids(project)).toSorted()).toEqual(kept.toSorted());
  });

  it('takes spans of the projects that the key may write, and counts the rest', async () => {
    const one = newProject();
    const two = newProject();
    const theirs = 'umbrella/spans';
    const getResourceSpans = (project: string) => spanExport(project).resourceSpans as JsonObject[];
    const services = Array.from({ length: 50 }, (_, i) => getResourceSpans([one, two, theirs][i % 3] ?? one));
    const answer = await sendJson({ resourceSpans: services.flat() });
    expect(answer).toEqual({
      partialSuccess: {
        rejectedSpans: '16',
        errorMessage: `16 spans: this key may not report to the project ${theirs}`,
      },
    });
    expect([await ids(one), await ids(two), await ids(theirs)]).toEqual([[callId], [callId], []]);
  });
});

describe('the project', () => {
  const spans = [spanJson()];

  it.each([
    ['wandb.entity and wandb.project', (p: string) => [{ 'wandb.entity': 'acme', 'wandb.project': p }, {}]],
    ['the header', (p: string) => [{}, { project_id: `acme/${p}` }]],
    [
      'svc.project_id before both',
      (p: string) => [
        { 'svc.project_id': `acme/${p}`, 'wandb.entity': 'acme', 'wandb.project': 'other' },
        { project_id: 'acme/other' },
      ],
    ],
  ])('is taken from %s', async (_, make) => {
    const project = newProject();
    const [resource, headers] = make(project.slice('acme/'.length)) as [JsonObject, object];
    await sendJson(exportJson(resource, spans), headers);
    expect(await ids(project)).toEqual([callId]);
  });

  it('is asked for with a line of environment when there is none', async () => {
    const answer = await send(JSON.stringify(exportJson({}, spans)), json);
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { code: 3, message: expect.stringContaining('OTEL_RESOURCE_ATTRIBUTES="svc.project_id=') },
    ]);
  });

  it('that is none is a 400 that shows it', async () => {
    const answer = await send(exportBytes('acme', [spanMessage()]), protobuf);
    expect(answer.status).toBe(400);
    expect(decodeStatus(await readBytes(answer))).toEqual({
      code: 3,
      message: expect.stringMatching(/svc\.project_id is "acme"; it should be <entity>\/<project>/),
    });
  });
});

describe('a packed body', () => {
  const packings = {
    gzip: ['gzip', gzipSync],
    zlib: ['deflate', deflateSync],
    'raw deflate': ['deflate', deflateRawSync],
  } as const;

  it.each(Object.entries(packings))('of protobuf may be %s', async (_, [encoding, pack]) => {
    const project = newProject();
    const body = new Uint8Array(pack(exportBytes(project, [spanMessage()])));
    expect((await send(body, protobuf, { 'content-encoding': encoding })).status).toBe(200);
    expect(await ids(project)).toEqual([callId]);
  });

  it('of JSON may be gzip', async () => {
    const project = newProject();
    const body = new Uint8Array(gzipSync(JSON.stringify(spanExport(project))));
    expect((await send(body, json, { 'content-encoding': 'gzip' })).status).toBe(200);
    expect(await ids(project)).toEqual([callId]);
  });

  it('may have been unpacked on its way', async () => {
    const project = newProject();
    const body = exportBytes(project, [spanMessage()]);
    expect((await send(body, protobuf, { 'content-encoding': 'gzip' })).status).toBe(200);
    expect(await ids(project)).toEqual([callId]);
  });

  it('of more than 32 MB unpacked is a 413 before it unfolds', async () => {
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(200 * 1024 * 1024)));
    const answer = await send(bomb, protobuf, { 'content-encoding': 'gzip' });
    expect(answer.status).toBe(413);
    expect(decodeStatus(await readBytes(answer))).toEqual({
      code: 8,
      message: expect.stringContaining('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    });
  });

  it.each([['br'], ['zstd'], ['gzip, gzip']])('with the encoding %s is a 415', async (encoding) => {
    const answer = await send(exportBytes('acme/x', [spanMessage()]), protobuf, {
      'content-encoding': encoding,
    });
    expect(answer.status).toBe(415);
    expect(decodeStatus(await readBytes(answer)).message).toContain('content-encoding');
  });

  it('that is cut off is a 400', async () => {
    const packed = gzipSync(exportBytes('acme/x', [spanMessage()]));
    const body = new Uint8Array(packed.subarray(0, packed.length - 12));
    const answer = await send(body, protobuf, { 'content-encoding': 'gzip' });
    expect([answer.status, decodeStatus(await readBytes(answer)).code]).toEqual([400, 3]);
  });
});

describe('an error', () => {
  it.each([
    ['protobuf that is cut off', exportBytes('acme/x', [spanMessage()]).slice(0, -3), protobuf],
    ['bytes that are nothing', new Uint8Array(Buffer.from('ffffffffffffffffffff', 'hex')), protobuf],
    ['JSON under the wrong content type', JSON.stringify(spanExport('acme/x')), protobuf],
    ['protobuf under the wrong content type', exportBytes('acme/x', [spanMessage()]), json],
    ['JSON that is no object', '[]', json],
    ['JSON that is cut off', '{"resourceSpans": [', json],
    ['a frame of another shape', '{"resourceSpans": {}}', json],
    ['no body at all', '', json],
  ])('of %s is a 400', async (_, body, type) => {
    const answer = await send(body, type);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, type]);
    const status = type === json ? await answer.json() : decodeStatus(await readBytes(answer));
    expect(status).toEqual({ code: 3, message: expect.stringMatching(/^the body /) });
  });

  it('of another content type is a 415', async () => {
    const answer = await send('{}', 'text/plain');
    expect([answer.status, await answer.json()]).toEqual([
      415,
      { code: 3, message: expect.stringContaining('application/x-protobuf or application/json') },
    ]);
  });

  it('of the gateway is a Status too where the request is protobuf', async () => {
    const unauthorized = await send(new Uint8Array(), protobuf, { authorization: bearer('none') });
    expect([unauthorized.status, unauthorized.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('Bearer'),
    ]);
    expect(decodeStatus(await readBytes(unauthorized))).toEqual({
      code: 16,
      message: expect.stringContaining('OTEL_EXPORTER_OTLP_HEADERS'),
    });
    const large = await send(new Uint8Array(randomBytes(4_800_000)), protobuf);
    expect(large.status).toBe(413);
    expect(decodeStatus(await readBytes(large))).toEqual({
      code: 8,
      message: expect.stringContaining('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    });
  });
});

describe('an export', () => {
  it('of 4 MB of protobuf is taken', async () => {
    const project = newProject();
    const text = randomBytes(2_000_000).toString('hex');
    const body = exportBytes(project, [spanMessage({ attributes: [textAttribute('text', text)] })]);
    expect((await send(body, protobuf)).status).toBe(200);
    const { attributes: stored } = (await read(project)) as { attributes: { text: string } };
    expect(stored.text === text).toBe(true);
  });

  it('may have an attribute of 5 MB, and 10,000 of them, which come back whole', async () => {
    const project = newProject();
    const text = 'a wordy answer. '.repeat(5_000_000 / 16);
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key_${i}`, `value ${i}`]));
    const span = spanJson({ attributes: attributes({ ...many, text }) });
    const body = gzipSync(JSON.stringify(exportJson({ 'svc.project_id': project }, [span])));
    const answer = await send(new Uint8Array(body), json, { 'content-encoding': 'gzip' });
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
    expect((await read(project)).attributes).toMatchObject({ ...many, text });
  });

  it('changes nothing when it is sent again, by whichever scheme, and at the same time', async () => {
    const project = newProject();
    const body = exportBytes(
      project,
      Array.from({ length: 30 }, (_, i) =>
        spanMessage({ spanId: new Uint8Array(8).fill(i + 1), attributes: [textAttribute('no', `${i}`)] }),
      ),
    );
    const all = async () => {
      const answer = await writer.service.post('/calls/stream_query', { project_id: project });
      return (await answer.text()).split('\n');
    };
    expect((await send(body, protobuf)).status).toBe(200);
    const before = await all();
    expect(before).toHaveLength(31);
    const answers = await Promise.all(
      [bearer(writer.key), basic(writer.key), basic(writer.key, 'api')].map((authorization) =>
        send(body, protobuf, { authorization }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await all()).toEqual(before);
  });

  it('without spans is taken', async () => {
    expect((await send(new Uint8Array(), protobuf)).status).toBe(200);
    expect(await sendJson({})).toEqual({});
  });

  it('without spans is taken with any key, since no project is written', async () => {
    using keys = keyMaker(writer.service);
    const authorization = bearer(await keys.granted('acme/*:read'));
    expect((await send('{}', json, { authorization })).status).toBe(200);
    const body = JSON.stringify(spanExport(newProject()));
    expect((await send(body, json, { authorization })).status).toBe(403);
  });

  it('of JSON has its integers as texts or as numbers', async () => {
    const project = newProject();
    const text = JSON.stringify(spanExport(project))
      .replace(`"${startNanos}"`, String(startNanos))
      .replace('{"stringValue":"good"}', '{"intValue":9007199254740993}');
    expect((await send(text, json)).status).toBe(200);
    expect(await read(project)).toMatchObject({
      id: `${traceId.slice(16)}${spanId}`,
      started_at: '2026-10-01T00:00:00.123456Z',
      attributes: { text: '9007199254740993' },
    });
  });
});

interface Call {
  readonly op_name: string;
  readonly thread_id: string | null;
  readonly exception: string | null;
  readonly attributes: { readonly kind: string };
  readonly summary: { readonly usage?: Readonly<Record<string, Readonly<Record<string, number>>>> };
}

/** Sends a capture's requests as its exporter did, but for the project. */
const sendCapture = async (name: string, project: string): Promise<void> => {
  for (const { body, headers } of readCapture(name).requests) {
    const { 'user-agent': _, ...sent } = headers;
    const answer = await fetch(`${writer.service.url}/otel/v1/traces`, {
      method: 'POST',
      headers: { ...sent, authorization: bearer(writer.service.key), project_id: project },
      body: new Uint8Array(body),
    });
    expect([answer.status, (await answer.bytes()).length <= 3]).toEqual([200, true]);
  }
};

const readCalls = async (project: string): Promise<Call[]> => {
  const answer = await writer.service.post('/calls/stream_query', { project_id: project });
  return (await answer.text())
    .trim()
    .split('\n')
    .map((line): Call => JSON.parse(line));
};

const tokens = (calls: readonly Call[], name: string): number =>
  calls
    .flatMap(({ summary }) => Object.values(summary.usage ?? {}))
    .reduce((sum, usage) => sum + (usage[name] ?? 0), 0);

// What each becomes is tested without a store: test/unit/core/doors/otel/captures.test.ts.
describe.each(sample(captureNames, 8, 'captures'))('the export of %s', (name) => {
  it('is stored with its operations, their conversations, errors and tokens', async () => {
    const project = `acme/${name}`;
    await sendCapture(name, project);
    const calls = await readCalls(project);
    const { expected } = readCapture(name);
    for (const { kind, name_contains, error_contains, conversation_id } of expected) {
      const found = calls.filter(
        ({ op_name, attributes, exception, thread_id }) =>
          op_name.includes(name_contains) &&
          attributes.kind === kind &&
          (error_contains === undefined ? exception === null : exception?.includes(error_contains)) &&
          // A conversation that only a span elsewhere names reaches it if that is above it.
          (conversation_id === undefined || thread_id === conversation_id || thread_id === null),
      );
      expect([kind, name_contains, found.length > 0]).toEqual([kind, name_contains, true]);
    }
    const wanted = (field: 'prompt_tokens' | 'completion_tokens'): number =>
      expected.reduce((sum, operation) => sum + (operation[field] ?? 0), 0);
    expect([tokens(calls, 'input_tokens'), tokens(calls, 'output_tokens')]).toEqual([
      wanted('prompt_tokens'),
      wanted('completion_tokens'),
    ]);
  });
});

const exporters = { protobuf: ProtobufExporter, JSON: JsonExporter } as const;

const ways = Object.entries(exporters).flatMap(([name, Exporter]) =>
  (['none', 'gzip'] as const).map((compression) => ({ name, Exporter, compression })),
);

it.each(ways)('OpenTelemetry’s own SDK reports in $name, packed by $compression', async (way) => {
  const project = `acme/sdk-${way.name}-${way.compression}`;
  const exporter = new way.Exporter({
    url: `${writer.service.url}/otel/v1/traces`,
    headers: { authorization: `Bearer ${writer.service.key}` },
    compression: way.compression as never,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'svc.project_id': project, 'service.name': 'shop' }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('test', '1.0');

  const turn = tracer.startSpan('turn', { attributes: { 'session.id': 'chat-1', tags: ['a', 'b'] } });
  const tool = tracer.startSpan(
    'tool',
    { attributes: { ratio: 0.5 } },
    trace.setSpan(context.active(), turn),
  );
  tool.recordException(new TypeError('no such order'));
  tool.setStatus({ code: SpanStatusCode.ERROR, message: 'failed' });
  tool.end();
  turn.end();
  await provider.forceFlush();
  await provider.shutdown();

  const ids = [turn, tool].map((span) => {
    const { traceId, spanId } = span.spanContext();
    return traceId.slice(16) + spanId;
  });
  const [turnId] = ids;
  const answer = await writer.service.post('/calls/stream_query', {
    project_id: project,
    sort_by: [{ field: 'op_name', direction: 'desc' }],
  });
  const calls = (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(calls).toMatchObject([
    { id: turnId, op_name: 'turn', parent_id: null, thread_id: 'chat-1', turn_id: turnId, exception: null },
    {
      id: ids[1],
      op_name: 'tool',
      parent_id: turnId,
      thread_id: 'chat-1',
      turn_id: turnId,
      exception: expect.stringMatching(/^TypeError: no such order\n/),
      attributes: { ratio: 0.5, otel: { resource: { service: { name: 'shop' } } } },
    },
  ]);
  expect(calls[0].attributes.tags).toEqual(['a', 'b']);
});
