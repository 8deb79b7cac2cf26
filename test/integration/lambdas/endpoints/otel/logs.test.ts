import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import {
  agentJson,
  attributes,
  callId,
  exportJson,
  logsJson,
  recordJson,
  spanId,
  spanJson,
  traceId,
} from '../../../../support/otel/otel.ts';
import { findLine } from '../../../../support/service/log-lines.ts';
import { bearer } from '../../../security/credentials.ts';
import { writerFor } from './writer.ts';

const writer = writerFor('logs');
const { newProject } = writer;

const send = (signal: 'logs' | 'traces', body: JsonObject | Uint8Array<ArrayBuffer>): Promise<Response> =>
  fetch(`${writer.service.url}/otel/v1/${signal}`, {
    method: 'POST',
    headers: {
      authorization: bearer(writer.key),
      'content-type': body instanceof Uint8Array ? 'application/x-protobuf' : 'application/json',
    },
    body: body instanceof Uint8Array ? body : JSON.stringify(body),
  });

const taken = async (answer: Promise<Response>): Promise<void> => {
  const { status, text } = await answer.then(async (response) => ({
    status: response.status,
    text: await response.text(),
  }));
  expect([status, text.trim()]).toEqual([200, expect.stringMatching(/^(\{\})?$/)]);
};

/** Expects one log record to be left out, and the reason to say something. */
const leftOut = async (answer: Promise<Response>, reason: string): Promise<void> => {
  const { status, body } = await answer.then(async (response) => ({
    status: response.status,
    body: await response.json(),
  }));
  expect([status, body]).toEqual([
    200,
    { partialSuccess: { rejectedLogRecords: '1', errorMessage: expect.stringContaining(reason) } },
  ]);
};

const readCalls = async (project: string): Promise<JsonObject[]> => {
  const answer = await writer.service.post('/calls/stream_query', { project_id: project });
  return (await answer.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as JsonObject);
};

const bareSpan = (project: string, values: JsonObject = {}): JsonObject =>
  exportJson({ 'svc.project_id': project }, [
    spanJson({
      name: 'chat m',
      attributes: attributes({
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'm',
        'gen_ai.provider.name': 'openai',
        'gen_ai.usage.input_tokens': 9,
        'gen_ai.usage.output_tokens': 3,
        ...values,
      }),
    }),
  ]);

const question = recordJson('gen_ai.user.message', { content: 'where is my order?' });
const answer = recordJson('gen_ai.choice', {
  index: 0,
  finish_reason: 'stop',
  message: { role: 'assistant', content: 'On its way.' },
});

const whole = {
  id: callId,
  trace_id: traceId,
  op_name: 'chat m',
  inputs: { model: 'm', messages: [{ role: 'user', content: 'where is my order?' }] },
  output: { messages: [{ role: 'assistant', content: 'On its way.', finish_reason: 'stop' }] },
  summary: { usage: { m: { input_tokens: 9, output_tokens: 3 } } },
};

describe('the content of a request', () => {
  it.each(['before', 'after', 'with', 'around'])('joins its span if it comes %s it', async (when) => {
    const project = newProject();
    const span = () => taken(send('traces', bareSpan(project)));
    const records = (...list: JsonObject[]) => taken(send('logs', logsJson(project, ...list)));
    if (when === 'before') await records(question, answer).then(span);
    if (when === 'after') await span().then(() => records(question, answer));
    if (when === 'with') await Promise.all([span(), records(question), records(answer)]);
    if (when === 'around') {
      await records(question);
      await span();
      await records(answer);
    }
    expect(await readCalls(project)).toMatchObject([whole]);
    // An export that is sent again changes nothing.
    await records(question);
    await span();
    expect(await readCalls(project)).toMatchObject([whole]);
  });

  it('waits unseen for its span, and is deleted with it', async () => {
    const project = newProject();
    await taken(send('logs', logsJson(project, question, answer)));
    expect(await readCalls(project)).toEqual([]);
    await taken(send('traces', bareSpan(project)));
    const deleted = await writer.service.post('/calls/delete', { project_id: project, call_ids: [callId] });
    expect(await deleted.json()).toEqual({ num_deleted: 1 });
    await taken(send('traces', bareSpan(project)));
    expect(await readCalls(project)).toMatchObject([{ inputs: { model: 'm' }, output: null }]);
  });

  it('comes as OpenTelemetry’s SDK sends it, with bodies as they were before events had names', async () => {
    const project = newProject();
    const exporter = new InMemoryLogRecordExporter();
    const provider = new LoggerProvider({
      resource: resourceFromAttributes({ 'svc.project_id': project }),
      processors: [new SimpleLogRecordProcessor({ exporter })],
    });
    const logger = provider.getLogger('opentelemetry.instrumentation.openai_v2');
    const named = (name: string) => ({ 'event.name': name, 'gen_ai.system': 'openai' });
    const context = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1 });
    logger.emit({
      context,
      attributes: named('gen_ai.user.message'),
      body: { content: 'where is my order?' },
    });
    logger.emit({
      context,
      attributes: named('gen_ai.choice'),
      body: { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'On its way.' } },
    });
    const bytes = new Uint8Array(
      ProtobufLogsSerializer.serializeRequest(exporter.getFinishedLogRecords()) ?? [],
    );
    await taken(send('traces', bareSpan(project)));
    await taken(send('logs', bytes));
    expect(await readCalls(project)).toMatchObject([whole]);
  });
});

it('read and write units of joining are those of the documents', async () => {
  const before = newProject();
  const after = newProject();
  const units = async (signal: 'logs' | 'traces', body: JsonObject) => {
    const { readUnits, writeUnits } = await findLine(writer.service, await send(signal, body));
    return { readUnits, writeUnits };
  };
  const ofSpan = await units('traces', bareSpan(after));
  expect(ofSpan).toEqual({ readUnits: 2, writeUnits: 4 });
  // The record, the call again with what it replaces, and the mark of its hour.
  expect(await units('logs', logsJson(after, question))).toEqual({ readUnits: 4, writeUnits: 6 });
  expect(await units('logs', logsJson(before, question, answer))).toEqual({ readUnits: 2, writeUnits: 2 });
  expect(await units('traces', bareSpan(before))).toEqual(ofSpan);
});

describe('a coding agent without spans', () => {
  const minute = 60_000_000_000n;
  const at = (seconds: number) => ({ timeUnixNano: String(29_846_880n * minute + BigInt(seconds * 1e9)) });

  it('has its session as a thread, and a turn for each prompt', async () => {
    const project = newProject();
    const claude = (event: string, seconds: number, values: JsonObject) => ({
      ...agentJson('', {
        'prompt.id': 'p1',
        'user.email': 'ada@example.com',
        'event.name': event,
        ...values,
      }),
      body: { stringValue: `claude_code.${event}` },
      ...at(seconds),
    });
    const records = [
      claude('user_prompt', 0, { prompt: 'fix the build', prompt_length: 13 }),
      claude('api_request', 3, {
        model: 'claude-sonnet-4-5',
        duration_ms: 2000,
        cost_usd: 0.01,
        request_id: 'req_1',
        input_tokens: 40,
        output_tokens: 10,
        cache_read_tokens: 1000,
        cache_creation_tokens: 60,
      }),
      claude('assistant_response', 3, {
        response: 'I look.',
        request_id: 'req_1',
        model: 'claude-sonnet-4-5',
      }),
      claude('tool_result', 4, {
        tool_name: 'Bash',
        tool_use_id: 'toolu_1',
        success: 'false',
        duration_ms: '500',
        tool_input: '{"command":"make"}',
        error: 'exit 2',
      }),
      claude('hook_execution_complete', 5, {}),
    ];
    await leftOut(send('logs', logsJson(project, ...records)), 'coding agent');
    await leftOut(send('logs', logsJson(project, ...records)), 'coding agent');
    const calls = await readCalls(project);
    const turn = calls.find(({ op_name }) => op_name === 'claude_code.interaction');
    const below = { thread_id: 'session', turn_id: turn?.id, parent_id: turn?.id, trace_id: turn?.trace_id };
    expect(calls).toHaveLength(3);
    expect(turn).toMatchObject({
      thread_id: 'session',
      turn_id: turn?.id,
      parent_id: null,
      inputs: { messages: [{ role: 'user', content: 'fix the build' }] },
      attributes: { kind: 'agent', user: { email: 'ada@example.com' } },
    });
    expect(calls.find(({ op_name }) => op_name === 'claude_code.llm_request')).toMatchObject({
      ...below,
      inputs: { model: 'claude-sonnet-4-5' },
      output: { messages: [{ role: 'assistant', content: 'I look.' }] },
      attributes: { kind: 'model', agent: { name: 'claude-code' } },
      summary: {
        cost_usd: 0.01,
        usage: {
          'claude-sonnet-4-5': {
            input_tokens: 1100,
            output_tokens: 10,
            cache_read_input_tokens: 1000,
            cache_creation_input_tokens: 60,
          },
        },
        svc: { latency_ms: 2000 },
      },
    });
    expect(calls.find(({ op_name }) => op_name === 'claude_code.tool')).toMatchObject({
      ...below,
      display_name: 'Bash',
      inputs: { command: 'make' },
      exception: 'exit 2',
      attributes: { kind: 'tool', tool: { name: 'Bash' } },
    });
    const threads = await writer.service.post('/threads/stream_query', { project_id: project });
    expect(await threads.json()).toMatchObject({ thread_id: 'session', turn_count: 1 });
  });

  it('say where the agent works by the attributes of its resource, which a query gives without the rest', async () => {
    const project = newProject();
    const { resourceLogs } = logsJson(
      project,
      agentJson('claude_code.user_prompt', { prompt: 'fix the build' }),
    ) as { resourceLogs: JsonObject[] };
    const resource = {
      attributes: attributes({
        'svc.project_id': project,
        'vcs.repository.name': 'acme/shop',
        'vcs.ref.head.name': 'main',
      }),
    };
    await taken(send('logs', { resourceLogs: resourceLogs.map((logs) => ({ ...logs, resource })) }));
    const answer = await writer.service.post('/calls/stream_query', {
      project_id: project,
      columns: ['attributes.otel.resource'],
    });
    expect(JSON.parse(await answer.text())).toMatchObject({
      attributes: {
        otel: {
          resource: { vcs: { repository: { name: 'acme/shop' }, ref: { head: { name: 'main' } } } },
        },
      },
    });
  });

  it('costs a write unit for what it says, and its turn again', async () => {
    const project = newProject();
    const makeEvent = (event: string, seconds: number, values: JsonObject) => ({
      ...agentJson('', { 'prompt.id': 'p1', 'event.name': event, ...values }),
      body: { stringValue: `claude_code.${event}` },
      ...at(seconds),
    });
    const units = async (record: JsonObject) => {
      const { readUnits, writeUnits } = await findLine(
        writer.service,
        await send('logs', logsJson(project, record)),
      );
      return { readUnits, writeUnits };
    };
    expect(await units(makeEvent('user_prompt', 0, { prompt: 'fix it' }))).toEqual({
      readUnits: 2,
      writeUnits: 6,
    });
    const request = { model: 'm', duration_ms: 2000, request_id: 'r', input_tokens: 4, output_tokens: 1 };
    // The request, and the turn again with what it replaces.
    expect(await units(makeEvent('api_request', 3, request))).toEqual({ readUnits: 3, writeUnits: 12 });
  });

  it('is Codex as its exporter writes it, with a place in its source as the name and no time', async () => {
    const project = newProject();
    const record = (event: string, second: number, values: JsonObject) => ({
      ...recordJson('event otel/src/events/session_telemetry.rs:703', {
        'event.name': event,
        'conversation.id': 'c-2',
        model: 'gpt-5',
        ...values,
        'event.timestamp': `2026-11-24T07:31:5${second}.000Z`,
      }),
      traceId: '',
      spanId: '',
      timeUnixNano: '0',
    });
    const tokens = { 'event.kind': 'response.completed', input_token_count: '9', output_token_count: '2' };
    await taken(
      send(
        'logs',
        logsJson(
          project,
          record('codex.user_prompt', 0, { prompt: 'count' }),
          record('codex.api_request', 2, { duration_ms: '1000' }),
          record('codex.sse_event', 3, { 'event.kind': 'response.completed', duration_ms: '0' }),
          record('codex.sse_event', 3, tokens),
          record('codex.tool_result', 5, {
            tool_name: 'exec_command',
            call_id: 'c1',
            duration_ms: '40',
            success: 'true',
            output: 'Process exited with code 1\nOutput:\nno such file',
          }),
        ),
      ),
    );
    expect(await readCalls(project)).toMatchObject([
      { display_name: 'codex', started_at: '2026-11-24T07:31:50.000000Z', ended_at: null },
      {
        display_name: 'gpt-5',
        summary: { usage: { 'gpt-5': { total_tokens: 11 } }, svc: { latency_ms: 2000 } },
      },
      { display_name: 'exec_command', exception: 'exit code 1: no such file' },
    ]);
  });

  it('is one turn of Codex across the end of two hours, each of which has a place of its own', async () => {
    const project = newProject();
    const record = (event: string, time: string, values: JsonObject) => ({
      ...recordJson(event, {
        'conversation.id': 'c-3',
        'event.timestamp': `2026-11-24T${time}.000Z`,
        ...values,
      }),
      traceId: '',
      spanId: '',
      timeUnixNano: '0',
    });
    const result = { tool_name: 'exec_command', call_id: 'c1', success: 'true', output: 'done' };
    for (const badRecord of [
      record('codex.user_prompt', '07:59:59', { prompt: 'count' }),
      record('codex.tool_result', '08:00:01', result),
    ])
      await taken(send('logs', logsJson(project, badRecord)));
    const [turn, tool] = await readCalls(project);
    expect(tool).toMatchObject({ op_name: 'codex.tool', parent_id: turn?.id, turn_id: turn?.id });
  });

  it('stores nothing of a stream of Codex before its end', async () => {
    const delta = (second: number) => ({
      ...recordJson('codex.sse_event', {
        'conversation.id': 'c-4',
        'event.kind': 'response.output_text.delta',
      }),
      traceId: '',
      spanId: '',
      ...at(second),
    });
    const answer = await send('logs', logsJson(newProject(), delta(1), delta(2), delta(3)));
    expect(answer.status).toBe(200);
    expect(await findLine(writer.service, answer)).toMatchObject({ writeUnits: 0 });
  });

  it('has no calls of technical spans, and says so', async () => {
    const project = newProject();
    const body = exportJson({ 'svc.project_id': project }, [spanJson({ name: 'append_items' })]);
    const technical = JSON.parse(JSON.stringify(body).replace('"shop","version"', '"codex_exec","version"'));
    const answer = await send('traces', technical);
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining('Codex') } },
    ]);
    expect(await readCalls(project)).toEqual([]);
  });

  it('is Codex as well', async () => {
    const project = newProject();
    const codex = (event: string, seconds: number, values: JsonObject) => ({
      ...recordJson('', { 'event.name': event, 'conversation.id': 'c-1', model: 'gpt-5-codex', ...values }),
      traceId: '',
      spanId: '',
      ...at(seconds),
    });
    await leftOut(
      send(
        'logs',
        logsJson(
          project,
          codex('codex.conversation_starts', 0, {}),
          codex('codex.user_prompt', 1, { prompt: 'fix it', prompt_length: '6' }),
          codex('codex.api_request', 2, { duration_ms: '800', 'http.response.status_code': '200' }),
          codex('codex.sse_event', 3, { 'event.kind': 'response.output_text.delta' }),
          codex('codex.sse_event', 3, {
            'event.kind': 'response.completed',
            input_token_count: '100',
            output_token_count: '9',
            cached_token_count: '60',
            reasoning_token_count: '4',
          }),
          codex('codex.tool_result', 4, {
            tool_name: 'shell',
            call_id: 'call_1',
            arguments: '{"command":["ls"]}',
            duration_ms: '20',
            success: 'true',
            output: 'README.md',
          }),
        ),
      ),
      'coding agent',
    );
    const calls = await readCalls(project);
    expect(
      calls.map(({ op_name, thread_id, parent_id }) => [op_name, thread_id, parent_id !== null]),
    ).toEqual([
      ['codex.turn', 'c-1', false],
      ['codex.request', 'c-1', true],
      ['codex.tool', 'c-1', true],
    ]);
    expect(calls).toMatchObject([
      { inputs: { messages: [{ content: 'fix it' }] } },
      {
        summary: {
          usage: { 'gpt-5-codex': { input_tokens: 100, cache_read_input_tokens: 60, output_tokens: 9 } },
        },
      },
      {
        inputs: { command: ['ls'] },
        output: 'README.md',
        exception: null,
        summary: { svc: { latency_ms: 20 } },
      },
    ]);
  });
});

describe('log records', () => {
  it('that say nothing of a model are left out, and the answer says so', async () => {
    const project = newProject();
    const started = recordJson('', {}, { body: { stringValue: 'started' } });
    await leftOut(send('logs', logsJson(project, started)), 'OTEL_LOGS_EXPORTER=none');
    expect(await readCalls(project)).toEqual([]);
  });

  it('are refused as spans are', async () => {
    const project = newProject();
    const bad = await send('logs', logsJson(project, recordJson('a', {}, { spanId: 'ab' }), question));
    expect([bad.status, await bad.json()]).toEqual([
      200,
      { partialSuccess: { rejectedLogRecords: '1', errorMessage: expect.stringContaining('span_id') } },
    ]);
    const refused: readonly (readonly [JsonObject, number])[] = [
      [logsJson('other/shop', question), 403],
      [{ resourceLogs: [{ scopeLogs: [{ logRecords: [question] }] }] }, 400],
      [{ resourceLogs: 7 }, 400],
    ];
    for (const [body, status] of refused) expect((await send('logs', body)).status).toBe(status);
    expect((await send('logs', new Uint8Array([0x0a, 0x7f, 1]))).status).toBe(400);
  });
});
