import { randomUUID } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import { newKey } from '../../../../support/service/keys.ts';
import { startService, type TestService } from '../../../../support/service/service.ts';
import {
  chunk,
  completion,
  done,
  event,
  events,
  json,
  startUpstream,
  type TestUpstream,
} from '../../../../support/service/upstream.ts';

const patient = { timeout: 20_000 };

let upstream: TestUpstream;
let service: TestService;
/** What functions did to the bucket, as `<action> <key>`. */
const objects: string[] = [];
beforeAll(async () => {
  upstream = await startUpstream();
  const { baseUrl } = upstream;
  service = await startService({
    upstreams: [
      { name: 'anthropic', api: 'anthropic', baseUrl, models: ['claude-*'] },
      { name: 'openai', baseUrl, models: ['gpt-*'] },
    ],
    onAccess: (_source, { action, resource }) => {
      if (action.startsWith('s3:')) objects.push(`${action} ${resource}`);
    },
  });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

const newProject = (): string => `acme/cached-${randomUUID()}`;

interface Sent {
  readonly project?: string | undefined;
  readonly path?: string;
  readonly ttl?: number | undefined;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const send = (
  body: object,
  { project, path = '/chat/completions', ttl = 60, key = service.key, headers }: Sent = {},
): Promise<Response> =>
  fetch(`${service.url}/inference/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(project !== undefined && { 'x-project': project }),
      ...(ttl > 0 && { 'x-cache-ttl': String(ttl) }),
      ...headers,
    },
    body: JSON.stringify(body),
  });

/** The calls of a project, once there are as many, in order of their starts. */
const recorded = async (project: string, count: number): Promise<JsonObject[]> => {
  let calls: JsonObject[] = [];
  await expect
    .poll(async () => {
      const sort_by = [{ field: 'started_at', direction: 'asc' }];
      const answer = await service.post('/calls/stream_query', { project_id: project, sort_by });
      calls = (await answer.text())
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      return calls.length;
    }, patient)
    .toBe(count);
  return calls;
};

/** Sends a request until the answer before it is kept. */
const sendUntilHit = async (body: object, sent: Sent): Promise<Response> => {
  let answer: Response | undefined;
  await expect
    .poll(async () => {
      answer = await send(body, sent);
      return answer.headers.get('x-cache');
    }, patient)
    .toBe('hit');
  if (!answer) throw new Error('there is no answer');
  return answer;
};

const model = 'gpt-test';
/** A body that nobody has sent. */
const newBody = (more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: randomUUID() }],
  ...more,
});

describe('an answer', () => {
  it('comes again for the same body, costs nothing, and says so in its record', async () => {
    upstream.behave(json(completion({ content: 'Hello' })));
    const project = newProject();
    const body = newBody();
    const first = await send(body, { project });
    expect(first.headers.get('x-cache')).toBe('miss');
    await recorded(project, 1);
    const before = upstream.requests.length;
    const second = await sendUntilHit(body, { project });
    expect(await second.json()).toEqual(await first.json());
    expect(second.headers.get('content-type')).toBe('application/json');
    expect(upstream.requests.length - before).toBeLessThanOrEqual(1);
    const calls = await recorded(project, 1 + upstream.requests.length - before + 1);
    expect(calls[0]).toMatchObject({ summary: { inference: { cache: 'miss' } } });
    const hit = calls.at(-1);
    expect(hit).toMatchObject({
      inputs: body,
      output: completion({ content: 'Hello' }),
      exception: null,
      summary: { inference: { status: 200, cache: 'hit' }, usage: { 'gpt-test-2026': { requests: 1 } } },
    });
    expect(JSON.stringify(hit?.summary)).not.toContain('tokens');
  });

  it.each([
    ['another field', (body: object) => [{ ...body, temperature: 1 }, {}] as const],
    ['another model', (body: object) => [{ ...body, model: 'gpt-other' }, {}] as const],
    ['another project', (body: object) => [body, { project: newProject() }] as const],
    ['no project', (body: object) => [body, { project: undefined }] as const],
    ['another path', (body: object) => [body, { path: '/completions' }] as const],
    ['another beta', (body: object) => [body, { headers: { 'openai-beta': 'x=v2' } }] as const],
    ['no ttl', (body: object) => [body, { ttl: 0 }] as const],
  ])('does not come for %s', async (_what, change) => {
    upstream.behave(json(completion({ content: 'Hello' })));
    const project = newProject();
    const body = newBody();
    await send(body, { project });
    await sendUntilHit(body, { project });
    const before = upstream.requests.length;
    const [other, sent] = change(body);
    const answer = await send(other, { project, ...sent });
    expect(answer.headers.get('x-cache')).toBe('ttl' in sent ? null : 'miss');
    expect(upstream.requests).toHaveLength(before + 1);
  });

  it('does not come for another key without a project', async () => {
    upstream.behave(json(completion({ content: 'Hello' })));
    const body = newBody();
    await send(body);
    await sendUntilHit(body, {});
    const key = await newKey(service, { scope: '*', role: 'inference' });
    expect((await send(body, { key })).headers.get('x-cache')).toBe('miss');
  });

  it('counts for the time that it was kept for, and for no longer than is asked', async () => {
    upstream.behave(json(completion({ content: 'Hello' })));
    const project = newProject();
    const body = newBody();
    await send(body, { project, ttl: 3600 });
    await sendUntilHit(body, { project, ttl: 3600 });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const before = upstream.requests.length;
    expect((await send(body, { project, ttl: 1 })).headers.get('x-cache')).toBe('miss');
    expect(upstream.requests).toHaveLength(before + 1);
  });

  it.each([
    ['an error', json({ error: { message: 'no' } }, 400)],
    ['what is not JSON', json('text')],
    ['a stream without an end', events([event(chunk({ content: 'half' }))])],
    ['an error inside', json({ error: { message: 'no' } })],
  ])('is not kept if it is %s', async (_what, behaviour) => {
    upstream.behave(behaviour);
    const project = newProject();
    const body = newBody({ stream: true });
    const path = '/chat/completions';
    await (await send(body, { project, path })).text();
    await recorded(project, 1);
    await (await send(body, { project, path })).text();
    await recorded(project, 2);
    expect(objects.filter((each) => each.startsWith('s3:PutObject') && each.includes(project))).toEqual([]);
  });

  it('costs no request of the bucket without the header', async () => {
    upstream.behave(json(completion({ content: 'Hello' })));
    const before = objects.filter((each) => each.includes('/answers/')).length;
    const answer = await send(newBody(), { ttl: 0 });
    expect(answer.headers.has('x-cache')).toBe(false);
    expect(objects.filter((each) => each.includes('/answers/'))).toHaveLength(before);
  });

  it.each(['0', '-1', '1.5', 'an hour', '2592001'])('is not kept for %s seconds', async (ttl) => {
    const answer = await send(newBody(), { ttl: 0, headers: { 'x-cache-ttl': ttl } });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ detail: [{ loc: ['header', 'x-cache-ttl'] }] });
  });
});

describe('an answer that was kept', () => {
  const tool = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":7}' } };

  it('whole is streamed to OpenAI’s client, with its usage if it is asked for', async () => {
    upstream.behave(json(completion({ content: 'Hello', tool_calls: [tool] }, 'tool_calls')));
    const project = newProject();
    const body = newBody();
    await send(body, { project });
    await sendUntilHit(body, { project });
    const openai = new OpenAI({
      baseURL: `${service.url}/inference/v1`,
      apiKey: service.key,
      project,
      defaultHeaders: { 'x-cache-ttl': '60' },
    });
    const before = upstream.requests.length;
    const stream = openai.chat.completions.stream({ ...body, stream: true } as never);
    const answer = await stream.finalChatCompletion();
    expect(answer.choices[0]?.message).toMatchObject({ content: 'Hello', tool_calls: [tool] });
    expect(answer.choices[0]?.finish_reason).toBe('tool_calls');
    expect(answer.usage).toBeFalsy();
    const more = { ...body, stream: true, stream_options: { include_usage: true } };
    const counted = openai.chat.completions.stream(more as never);
    expect((await counted.finalChatCompletion()).usage).toMatchObject({ total_tokens: 12 });
    expect(upstream.requests).toHaveLength(before);
  });

  it('from a stream is whole, with the usage that its client did not see', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
    upstream.behave(
      events([
        event(chunk({ role: 'assistant', content: 'Hel' })),
        event(chunk({ content: 'lo' })),
        event(chunk({}, 'stop')),
        event({ ...chunk({}), choices: [], usage }),
        done,
      ]),
    );
    const project = newProject();
    const body = newBody();
    const first = await (await send({ ...body, stream: true }, { project })).text();
    expect(first).not.toContain('usage');
    expect(upstream.last().body).toMatchObject({ stream_options: { include_usage: true } });
    await recorded(project, 1);
    const answer = await sendUntilHit(body, { project });
    expect(await answer.json()).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage,
    });
  });

  it('is streamed to Anthropic’s client', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'text', text: 'I will look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 7 } },
    ];
    const usage = { input_tokens: 5, output_tokens: 4 };
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      content,
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage,
    };
    upstream.behave(json(message));
    const project = newProject();
    const body = { ...newBody(), model: 'claude-test', max_tokens: 9 };
    await send(body, { project, path: '/messages' });
    await sendUntilHit(body, { project, path: '/messages' });
    const anthropic = new Anthropic({
      baseURL: `${service.url}/inference`,
      apiKey: service.key,
      defaultHeaders: { 'x-project': project, 'x-cache-ttl': '60' },
    });
    const before = upstream.requests.length;
    // The client says another version than none.
    const versioned = { 'anthropic-version': null };
    const stream = anthropic.messages.stream(body as never, { headers: versioned });
    const final = await stream.finalMessage();
    expect(final).toMatchObject({ content, stop_reason: 'tool_use', usage });
    expect(upstream.requests).toHaveLength(before);
  });

  it('is streamed as a response', async () => {
    const response = {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'gpt-test',
      output: [
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
        },
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: 'look',
          arguments: '{"at":7}',
          status: 'completed',
        },
      ],
      usage: { input_tokens: 5, output_tokens: 4, total_tokens: 9 },
    };
    upstream.behave(json(response));
    const project = newProject();
    const body = { model, input: randomUUID() };
    await send(body, { project, path: '/responses' });
    await sendUntilHit(body, { project, path: '/responses' });
    const openai = new OpenAI({
      baseURL: `${service.url}/inference/v1`,
      apiKey: service.key,
      project,
      defaultHeaders: { 'x-cache-ttl': '60' },
    });
    const stream = openai.responses.stream(body as never);
    const deltas: string[] = [];
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const final = await stream.finalResponse();
    expect(deltas.join('')).toBe('Hello');
    expect(final.output).toMatchObject(response.output);
    expect(final.output_text).toBe('Hello');
  });
});

describe('with redaction', () => {
  it('an answer that rules find something in is not kept, and others are', async () => {
    const redacting = await startService({
      upstreams: [{ name: 'openai', baseUrl: upstream.baseUrl, models: ['gpt-*'] }],
      settings: { redact: [{ name: 'mail', builtin: 'email', action: 'label' }] },
      onAccess: (_source, { action, resource }) => {
        if (action === 's3:PutObject' && resource.includes('/answers/')) kept.push(resource);
      },
    });
    const kept: string[] = [];
    const ask = async (content: string): Promise<string> => {
      upstream.behave(json(completion({ content })));
      const answer = await fetch(`${redacting.url}/inference/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${redacting.key}`,
          'content-type': 'application/json',
          'x-cache-ttl': '60',
        },
        body: JSON.stringify(newBody()),
      });
      return answer.text();
    };
    try {
      expect(await ask('Write to ada@example.com')).toContain('ada@example.com');
      await ask('Nothing of anybody');
      await expect.poll(() => kept.length, patient).toBe(1);
    } finally {
      await redacting.stop();
    }
  });
});
