import { randomUUID } from 'node:crypto';
import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic, { APIError, type ClientOptions } from '@anthropic-ai/sdk';
import { generateText } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import { startService, type TestService } from '../../../../support/service/service.ts';
import {
  completion,
  events,
  json,
  startUpstream,
  type TestUpstream,
} from '../../../../support/service/upstream.ts';

const patient = { timeout: 20_000 };

let upstream: TestUpstream;
let service: TestService;
beforeAll(async () => {
  upstream = await startUpstream();
  const { baseUrl } = upstream;
  service = await startService({
    upstreams: [
      { name: 'anthropic', api: 'anthropic', baseUrl, key: 'sk-upstream', models: ['claude-*'] },
      { name: 'openai', baseUrl, models: ['gpt-*'] },
    ],
  });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

const newProject = (): string => `acme/messages-${randomUUID()}`;

const client = (options: ClientOptions = {}): Anthropic =>
  new Anthropic({
    baseURL: `${service.url}/inference`,
    apiKey: service.key,
    maxRetries: 0,
    ...options,
  });

/** The one call of a project, once it is there. */
const recorded = async (project: string): Promise<JsonObject> => {
  let text = '';
  await expect
    .poll(async () => {
      text = await (await service.post('/calls/stream_query', { project_id: project })).text();
      return text;
    }, patient)
    .not.toBe('');
  return JSON.parse(text);
};

const model = 'claude-test';
const question = [{ role: 'user' as const, content: 'Hi' }];
const request = { model, max_tokens: 64, messages: question };

const message = (content: object[], more: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-test-2026',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2, output_tokens: 4 },
  ...more,
});

const usage = {
  'claude-test-2026': {
    requests: 1,
    prompt_tokens: 10,
    completion_tokens: 4,
    total_tokens: 14,
    prompt_tokens_details: { cached_tokens: 3 },
    cache_creation_input_tokens: 2,
  },
};

const named = (data: { type: string }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** A stream of thinking, a text and a tool call. */
const streamed = [
  {
    type: 'message_start',
    message: message([], { stop_reason: null, usage: { ...message([]).usage, output_tokens: 1 } }),
  },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'I will ' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'look.' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
  },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"at":' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '7}' } },
  { type: 'content_block_stop', index: 2 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 4 },
  },
  { type: 'message_stop' },
].map(named);

const blocks = [
  { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
  { type: 'text', text: 'I will look.' },
  { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 7 } },
];

describe('Messages', () => {
  it('reach an upstream that speaks them as they are, with versions and betas, and without our key', async () => {
    upstream.behave(json(message([{ type: 'text', text: 'Hello' }])));
    const project = newProject();
    const answer = await client({ defaultHeaders: { 'x-project': project } }).beta.messages.create({
      ...request,
      betas: ['context-management-2025-06-27'],
    });
    expect(answer.content).toEqual([{ type: 'text', text: 'Hello' }]);
    const { url, headers, body } = upstream.last();
    expect(url).toBe('/v1/messages');
    expect(body).toEqual(request);
    expect(headers).toMatchObject({
      'x-api-key': 'sk-upstream',
      'anthropic-version': expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      'anthropic-beta': 'context-management-2025-06-27',
    });
    expect(JSON.stringify(headers)).not.toContain(service.key);
    expect(headers).not.toHaveProperty('x-project');
    expect(await recorded(project)).toMatchObject({
      op_name: 'anthropic.messages.create',
      inputs: request,
      output: message([{ type: 'text', text: 'Hello' }]),
      exception: null,
      thread_id: null,
      attributes: { kind: 'model', inference: { endpoint: '/messages', upstream: 'anthropic' } },
      summary: { usage, inference: { status: 200, attempts: [{ upstream: 'anthropic', status: 200 }] } },
    });
  });

  it('stream, and are recorded as they would be without', async () => {
    upstream.behave(events(streamed));
    const project = newProject();
    const stream = client({ defaultHeaders: { 'OpenAI-Project': project } }).messages.stream(request);
    const final = await stream.finalMessage();
    expect(final.content).toEqual(blocks);
    expect(final.stop_reason).toBe('tool_use');
    expect(await recorded(project)).toMatchObject({
      output: { ...message(blocks), stop_reason: 'tool_use' },
      exception: null,
      summary: { usage },
    });
  });

  it('show what the upstream refuses as it said it, and record it', async () => {
    const refusal = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    upstream.behave(json(refusal, 529));
    const project = newProject();
    const failed = await client({ defaultHeaders: { 'x-project': project } })
      .messages.create(request)
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(APIError);
    expect(failed).toMatchObject({ status: 529, error: refusal });
    expect(await recorded(project)).toMatchObject({ exception: '529: Overloaded', output: refusal });
  });

  it('are a failed call if the stream ends in an error', async () => {
    const error = { type: 'error', error: { type: 'api_error', message: 'lost' } };
    upstream.behave(events([...streamed.slice(0, 8), named(error)]));
    const project = newProject();
    const stream = client({ defaultHeaders: { 'x-project': project } }).messages.stream(request);
    await expect(stream.finalMessage()).rejects.toThrow('lost');
    expect(await recorded(project)).toMatchObject({ exception: 'lost' });
  });

  it('reach a model that speaks Chat Completions in translation, and are recorded as they were asked', async () => {
    upstream.behave(json(completion({ content: 'Hello' })));
    const project = newProject();
    const asked = { ...request, model: 'gpt-test' };
    const answer = await client({ defaultHeaders: { 'x-project': project } }).messages.create(asked);
    expect(answer).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
    });
    expect(upstream.last().url).toBe('/v1/chat/completions');
    expect(await recorded(project)).toMatchObject({
      op_name: 'anthropic.messages.create',
      inputs: asked,
      output: { type: 'message', content: [{ type: 'text', text: 'Hello' }] },
      summary: { usage: { 'gpt-test-2026': { prompt_tokens: 9, completion_tokens: 3 } } },
    });
  });

  it('are sent by the AI SDK as well', async () => {
    upstream.behave(json(message([{ type: 'text', text: 'Hello' }])));
    const anthropic = createAnthropic({ baseURL: `${service.url}/inference/v1`, apiKey: service.key });
    const { text, usage: used } = await generateText({ model: anthropic(model), prompt: 'Hi' });
    expect(text).toBe('Hello');
    expect(used.outputTokens).toBe(4);
  });
});

describe('the tokens of Messages', () => {
  it('are counted by an upstream that speaks them, and are no call', async () => {
    upstream.behave(json({ input_tokens: 11 }));
    const project = newProject();
    const { messages } = client({ defaultHeaders: { 'x-project': project } });
    expect(await messages.countTokens({ model, messages: question })).toEqual({ input_tokens: 11 });
    expect(upstream.last().url).toBe('/v1/messages/count_tokens');
    upstream.behave(json(message([{ type: 'text', text: 'Hello' }])));
    await messages.create(request);
    expect(await recorded(project)).toMatchObject({ op_name: 'anthropic.messages.create' });
  });

  it('are a 422 that says why for other upstreams', async () => {
    const before = upstream.requests.length;
    const failed = await client()
      .messages.countTokens({ model: 'gpt-test', messages: question })
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({
      status: 422,
      error: {
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining('/messages/count_tokens') },
        detail: [{ loc: ['path'] }],
      },
    });
    expect(upstream.requests).toHaveLength(before);
  });
});

const post = (
  headers: Readonly<Record<string, string>>,
  body: object = request,
  path = '/messages',
): Promise<Response> =>
  fetch(`${service.url}/inference/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('a refusal of the service', () => {
  const auth = () => ({ 'x-api-key': service.key });

  it.each([
    ['a wrong body', () => post(auth(), { max_tokens: 1 }), 422, 'invalid_request_error'],
    ['no model', () => post(auth(), { ...request, model: 'nobodys' }), 404, 'not_found_error'],
    [
      'two projects',
      () => post({ ...auth(), 'x-project': 'acme/a', 'openai-project': 'acme/b' }),
      422,
      'invalid_request_error',
    ],
    ['a bad ttl', () => post({ ...auth(), 'x-cache-ttl': '2592001' }), 422, 'invalid_request_error'],
    [
      'a long session',
      () => post({ ...auth(), 'x-session-id': 'x'.repeat(300) }),
      422,
      'invalid_request_error',
    ],
  ])('for %s has the shape of Anthropic’s errors and ours', async (_what, attempt, status, type) => {
    const response = await attempt();
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type, message: expect.any(String) },
      detail: [{ loc: expect.any(Array), msg: expect.any(String), type: expect.any(String) }],
    });
  });

  it('names the header that disagrees', async () => {
    const response = await post({ ...auth(), 'x-project': 'acme/a', 'openai-project': 'acme/b' });
    expect(await response.json()).toMatchObject({ detail: [{ loc: ['header', 'x-project'] }] });
  });

  it('for the key says what is wrong to Anthropic’s client', async () => {
    const failed = await client({ apiKey: 'sk-ant-nobodys' })
      .messages.create(request)
      .catch((error: Error) => error);
    expect(failed).toMatchObject({
      status: 401,
      message: expect.stringContaining('a valid key is required'),
    });
  });
});

describe('the key', () => {
  const bearer = () => `Bearer ${service.key}`;
  const other = `svc_0123456789abcdef_${'0'.repeat(64)}`;

  it.each([
    ['as x-api-key', () => ({ 'x-api-key': service.key }), 200],
    ['as X-API-Key', () => ({ 'X-API-Key': service.key }), 200],
    ['as Bearer', () => ({ authorization: bearer() }), 200],
    ['as both', () => ({ authorization: bearer(), 'x-api-key': service.key }), 200],
    ['as Bearer beside another', () => ({ authorization: bearer(), 'x-api-key': other }), 401],
    ['beside another Bearer', () => ({ authorization: `Bearer ${other}`, 'x-api-key': service.key }), 401],
    [
      'as Basic',
      () => ({ authorization: `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}` }),
      401,
    ],
    [
      'with another secret',
      () => ({ 'x-api-key': service.key.replace(/.$/, (c) => (c === '0' ? '1' : '0')) }),
      401,
    ],
    ['not at all', () => ({}), 401],
  ] as const)('is taken %s below /inference', async (_how, headers, status) => {
    // What was good a moment ago opens nothing to the next one.
    upstream.behave(json(message([])));
    expect((await post({ 'x-api-key': service.key })).status).toBe(200);
    const response = await post({ ...headers() });
    expect(response.status).toBe(status);
    expect(
      (await post({ ...headers() }, { model: 'gpt-test', messages: question }, '/chat/completions')).status,
    ).toBe(status);
  });

  it('is not taken as x-api-key elsewhere', async () => {
    const response = await fetch(`${service.url}/me`, { headers: { 'x-api-key': service.key } });
    expect(response.status).toBe(401);
  });
});

describe('who it was for', () => {
  const userId = JSON.stringify({ device_id: 'device-1', account_uuid: '', session_id: 'session-1' });

  it('is the session, the agent and the user of Claude Code', async () => {
    upstream.behave(json(message([])));
    const project = newProject();
    await post(
      {
        'x-api-key': service.key,
        'x-project': project,
        'x-claude-code-session-id': 'session-1',
        'user-agent': 'claude-cli/2.1.331 (external, sdk-cli)',
      },
      { ...request, metadata: { user_id: userId } },
    );
    const call = await recorded(project);
    expect(call).toMatchObject({
      thread_id: 'session-1',
      turn_id: call.id,
      attributes: { agent: { name: 'claude-code', version: '2.1.331' }, user: { id: 'device-1' } },
    });
  });

  it('is a sub-agent by its id', async () => {
    upstream.behave(json(message([])));
    const project = newProject();
    await post({
      'x-api-key': service.key,
      'x-project': project,
      'x-claude-code-session-id': 'session-1',
      'x-claude-code-agent-id': 'agent-7',
    });
    expect(await recorded(project)).toMatchObject({
      thread_id: 'session-1',
      attributes: { agent: { name: 'subagent', id: 'agent-7' } },
    });
  });

  it('is under the span of a trace that came by OpenTelemetry', async () => {
    upstream.behave(json(completion({ content: 'Hello' })));
    const project = newProject();
    const traceId = randomUUID().replaceAll('-', '');
    const spanId = '00f067aa0ba902b7';
    const now = String(Date.now() * 1_000_000);
    const span = { traceId, spanId, name: 'ask', startTimeUnixNano: now, endTimeUnixNano: now };
    await service.post(
      '/otel/v1/traces',
      { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] },
      { headers: { project_id: project } },
    );
    await post(
      {
        authorization: `Bearer ${service.key}`,
        'openai-project': project,
        'x-session-id': 'chat-1',
        'x-source': 'playground',
        'x-prompt': 'support:12',
        traceparent: `00-${traceId}-${spanId}-01`,
      },
      { model: 'gpt-test', messages: question, user: 'ada' },
      '/chat/completions',
    );
    let calls: JsonObject[] = [];
    await expect
      .poll(async () => {
        const answer = await service.post('/calls/stream_query', { project_id: project });
        calls = (await answer.text())
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line));
        return calls.length;
      }, patient)
      .toBe(2);
    const parent = calls.find(({ op_name: name }) => name === 'ask');
    const child = calls.find(({ op_name: name }) => name === 'openai.chat.completions.create');
    expect(child).toMatchObject({
      trace_id: traceId,
      parent_id: parent?.id,
      thread_id: 'chat-1',
      turn_id: null,
      attributes: {
        source: 'playground',
        user: { id: 'ada' },
        prompt: { name: 'support', version: '12' },
      },
    });
  });
});
