import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Grant } from '../../../../../foundations/auth/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { type Fault, startFaultyProxy } from '../../../../support/faults/faulty-proxy.ts';
import { newKey } from '../../../../support/service/keys.ts';
import { findLine } from '../../../../support/service/log-lines.ts';
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

let upstream: TestUpstream;
let service: TestService;
beforeAll(async () => {
  upstream = await startUpstream();
  service = await startService({ inference: { baseUrl: upstream.baseUrl } });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

let projects = 0;
/** A project that nothing was recorded in yet. */
const newProject = (): ProjectId => `acme/recorded-${projects++}` as ProjectId;

const send = (
  body: object,
  project: string | undefined,
  {
    path = '/chat/completions',
    key = service.key,
    target = service,
    ...init
  }: RequestInit & { path?: string; key?: string; target?: TestService } = {},
): Promise<Response> =>
  fetch(`${target.url}/inference/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(project !== undefined && { 'OpenAI-Project': project }),
    },
    body: JSON.stringify(body),
    ...init,
  });

/** The one call of a project, once it is there. */
const recorded = async (projectId: string, target = service): Promise<JsonObject> => {
  let text = '';
  await expect
    .poll(async () => {
      text = await (await target.post('/calls/stream_query', { project_id: projectId })).text();
      return text;
    })
    .not.toBe('');
  return JSON.parse(text);
};

const model = 'gpt-test';
const messages = [{ role: 'user', content: 'Hi' }];
const usage = { 'gpt-test-2026': { requests: 1, prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } };

describe('a recorded request', () => {
  it('is a call with its inputs, its output, its usage and its times', async () => {
    const project = newProject();
    upstream.behave(json(completion({ content: 'Hello' }), 200, { 'x-request-id': 'req_1' }));
    const response = await send(
      { model, messages, temperature: 0, extra_headers: { 'X-Title': 'hush' } },
      project,
    );
    const call = await recorded(project);
    expect(call).toMatchObject({
      op_name: 'openai.chat.completions.create',
      inputs: { model, messages, temperature: 0 },
      output: await response.json(),
      exception: null,
      svc_user_id: 'local',
      attributes: {
        kind: 'model',
        inference: {
          endpoint: '/chat/completions',
          upstream: 'local',
          upstream_model: model,
          request_id: response.headers.get('x-request-id'),
        },
      },
      summary: {
        usage,
        inference: { status: 200, first_byte_ms: expect.any(Number), upstream_request_id: 'req_1' },
        svc: { status: 'success', latency_ms: expect.any(Number) },
      },
    });
    expect(JSON.stringify(call)).not.toContain('hush');
    expect(upstream.last().headers).not.toHaveProperty('openai-project');
  });

  it('has numbers as the client wrote them', async () => {
    const project = newProject();
    upstream.behave(json(completion({ content: 'Hello' })));
    const body = `{"model":"${model}","messages":[],"temperature":1.0,"timeout":30.0,"seed":7.0}`;
    await send({}, project, { body });
    await recorded(project);
    const answer = await service.post('/calls/stream_query', { project_id: project, columns: ['inputs'] });
    expect(await answer.text()).toContain('"temperature":1.0,"timeout":30.0,"seed":7.0');
  });

  it('has the costs of the model that answered', async () => {
    const project = newProject();
    upstream.behave(json({ ...completion({ content: 'Hello' }), model: 'gpt-4o-2024-08-06' }));
    await send({ model: 'gpt-4o', messages }, project);
    const { id } = await recorded(project);
    const answer = await service.post('/call/read', { project_id: project, id, include_costs: true });
    expect(await answer.json()).toMatchObject({
      call: {
        summary: {
          svc: {
            costs: {
              'gpt-4o-2024-08-06': {
                prompt_tokens: 9,
                prompt_tokens_total_cost: expect.closeTo(9 * 2.5e-6, 12),
                completion_tokens_total_cost: expect.closeTo(3 * 1e-5, 12),
                pricing_level: 'default',
              },
            },
          },
        },
      },
    });
  });

  it('has the assembled answer of a stream, with its tool calls', async () => {
    const project = newProject();
    const pieces = [
      chunk({ role: 'assistant', content: null }),
      chunk({
        tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '' } }],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"q":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"ü"}' } }] }),
      chunk({
        tool_calls: [
          { index: 1, id: 'call_2', type: 'function', function: { name: 'stop', arguments: '{}' } },
        ],
      }),
      chunk({}, 'tool_calls'),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } },
    ];
    upstream.behave(events([...pieces.map(event), done], 20));
    await (
      await send({ model, messages, stream: true, stream_options: { include_usage: true } }, project)
    ).text();
    expect(upstream.last().body.stream_options).toEqual({ include_usage: true });
    const call = await recorded(project);
    expect(call.output).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'gpt-test-2026',
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"q":"ü"}' } },
              { id: 'call_2', type: 'function', function: { name: 'stop', arguments: '{}' } },
            ],
          },
        },
      ],
    });
    const { inference } = call.summary as { inference: Record<string, number> };
    expect(call.summary).toMatchObject({ usage });
    // The first chunk says nothing yet.
    expect(inference.first_token_ms).toBeGreaterThan(inference.first_byte_ms ?? 0);
  });

  it('lacks the usage if its client did not request it, and adds none to the answer', async () => {
    const project = newProject();
    upstream.behave(events([event(chunk({ content: 'x' }, 'stop')), done]));
    await (await send({ model, messages, stream: true }, project)).text();
    expect(upstream.last().body).not.toHaveProperty('stream_options');
    expect((await recorded(project)).summary).toMatchObject({ usage: { 'gpt-test-2026': { requests: 1 } } });
  });

  it.each([
    ['/embeddings', 'openai.embeddings.create'],
    ['/completions', 'openai.completions.create'],
    ['/responses', 'openai.responses.create'],
  ])('to %s is called %s', async (path, opName) => {
    const project = newProject();
    upstream.behave(json({ model, usage: { input_tokens: 4, output_tokens: 2, total_tokens: 6 } }));
    await send({ model, input: 'text' }, project, { path });
    expect(await recorded(project)).toMatchObject({
      op_name: opName,
      summary: {
        usage: { [model]: { requests: 1, prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 } },
      },
    });
  });

  it('is an error with the upstream’s message if the upstream refused it', async () => {
    const project = newProject();
    upstream.behave(json({ error: { message: 'too fast', type: 'rate_limit_error' } }, 429));
    await send({ model, messages }, project);
    expect(await recorded(project)).toMatchObject({
      exception: '429: too fast',
      output: { error: { message: 'too fast' } },
      summary: { svc: { status: 'error' }, inference: { status: 429 } },
    });
  });

  it.each([
    ['an object', { error: { message: 'overloaded', code: 502 } }, 'overloaded'],
    ['a text', { error: 'overloaded' }, 'overloaded'],
    [
      'of Anthropic',
      { type: 'error', error: { type: 'overloaded_error', message: 'overloaded' } },
      'overloaded',
    ],
    [
      'of a response',
      { object: 'response', status: 'failed', error: { message: 'overloaded' } },
      'overloaded',
    ],
    ['of a choice', { choices: [{ error: { code: 502, message: 'overloaded' } }] }, 'overloaded'],
    ['without a message', { error: { code: 7 } }, '{"code":7}'],
  ])('is an error if the upstream’s 200 is one: %s', async (_, body, exception) => {
    for (const [type, text] of [
      ['application/json', JSON.stringify(body)],
      ['text/event-stream', event(body)],
    ] as const) {
      const project = newProject();
      upstream.behave((_request, res) => res.writeHead(200, { 'content-type': type }).end(text));
      const response = await send({ model, messages }, project);
      expect([response.status, await response.text()]).toEqual([200, text]);
      expect(await recorded(project)).toMatchObject({
        exception,
        summary: { svc: { status: 'error' }, inference: { status: 200 } },
      });
    }
  });

  it.each([null, '', false])('is a success if its answer says "error": %j', async (error) => {
    const project = newProject();
    upstream.behave(json({ ...completion({ content: 'Hello' }), error }));
    await send({ model, messages }, project);
    expect(await recorded(project)).toMatchObject({
      exception: null,
      summary: { svc: { status: 'success' } },
    });
  });

  it('has the received part of a broken answer, and says so', async () => {
    const project = newProject();
    upstream.behave(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(event(chunk({ content: 'half' })));
      setTimeout(() => res.destroy(), 50);
    });
    await expect((await send({ model, stream: true }, project)).text()).rejects.toThrow();
    expect(await recorded(project)).toMatchObject({
      exception: 'the upstream local broke its answer off',
      output: { choices: [{ message: { content: 'half' } }] },
    });
  });

  it.each([
    ['took too long', { timeout: 0.2 }, 504, /^the upstream local did not answer within 0.2 s$/],
    ['went nowhere', {}, 502, /^the upstream local cannot be reached/],
  ])('that %s is an error', async (_, fields, status, exception) => {
    const project = newProject();
    upstream.behave((_request, res) => (status === 502 ? res.destroy() : undefined));
    expect((await send({ model, ...fields }, project)).status).toBe(status);
    expect(await recorded(project)).toMatchObject({
      exception: expect.stringMatching(exception),
      output: null,
    });
  });

  it('has what came before its client disconnected', async () => {
    const project = newProject();
    upstream.behave(async ({ aborted }, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(event(chunk({ content: 'so far' })));
      await aborted;
    });
    const leaving = new AbortController();
    const response = await send({ model, stream: true }, project, { signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    expect(await recorded(project)).toMatchObject({
      exception: 'the client has gone',
      output: { choices: [{ message: { content: 'so far' } }] },
    });
  });

  it.each([
    ['chat completions', [event(chunk({ content: 'whole' }, 'stop')), done.slice(0, 9), done.slice(9)]],
    [
      'responses',
      [`event: response.completed\n${event({ type: 'response.completed', response: { id: 'r', model } })}`],
    ],
  ])('is a success if its client leaves at the end of a stream of %s', async (_, pieces) => {
    const project = newProject();
    upstream.behave(async ({ aborted }, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of pieces) res.write(piece);
      await aborted;
    });
    const leaving = new AbortController();
    const response = await send({ model, stream: true }, project, { signal: leaving.signal });
    const reader = response.body?.getReader();
    for (let text = ''; !/(?:\[DONE\]|"r".*)\n\n$/.test(text); )
      text += Buffer.from((await reader?.read())?.value ?? '').toString();
    leaving.abort();
    expect(await recorded(project)).toMatchObject({
      exception: null,
      output: expect.any(Object),
      summary: { svc: { status: 'success' } },
    });
    expect(await findLine(service, response)).toMatchObject({ outcome: 'answered' });
  });

  it.each(['{"choices": [', '', '<html>'])('is an error if its answer is %j and no JSON', async (body) => {
    const project = newProject();
    upstream.behave((_request, res) => res.writeHead(200, { 'content-type': 'application/json' }).end(body));
    expect(await (await send({ model, messages }, project)).text()).toBe(body);
    expect(await recorded(project)).toMatchObject({
      exception: 'the upstream answered with what is not JSON',
      summary: { svc: { status: 'error' }, inference: { status: 200 } },
    });
  });

  it.each([
    ['/chat/completions', { prompt_tokens: 2000, completion_tokens: 10, total_tokens: 2010 }, 'prompt'],
    ['/responses', { input_tokens: 2000, output_tokens: 10, total_tokens: 2010 }, 'input'],
  ])('to %s costs less for what the provider had in its cache', async (path, counts, name) => {
    const project = newProject();
    const usage = { ...counts, [`${name}_tokens_details`]: { cached_tokens: 1536 } };
    upstream.behave(json({ model: 'gpt-4o-2024-08-06', usage }));
    await send({ model: 'gpt-4o' }, project, { path });
    const { id } = await recorded(project);
    const answer = await service.post('/call/read', { project_id: project, id, include_costs: true });
    expect(await answer.json()).toMatchObject({
      call: {
        summary: {
          svc: {
            costs: {
              'gpt-4o-2024-08-06': {
                // $2.50 and $1.25 a million
                prompt_tokens_total_cost: expect.closeTo(464 * 2.5e-6 + 1536 * 1.25e-6, 12),
              },
            },
          },
        },
      },
    });
  });

  it('is recorded up to a limit, and marked, if its answer is very long', async () => {
    const project = newProject();
    const piece = event(chunk({ content: 'x'.repeat(100_000) }));
    const last = {
      ...chunk({}),
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    };
    upstream.behave(events([...Array.from({ length: 60 }, () => piece), event(last), done]));
    const response = await send({ model, stream: true }, project);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(6_000_000);
    expect(await recorded(project)).toMatchObject({ summary: { usage, inference: { truncated: true } } });
  });
});

describe('a project header', () => {
  const keyWith = (...grants: Grant[]) => newKey(service, ...grants);

  it.each(['acme', 'acme/', '/shop', 'acme/shop/x', 'proj_123', ''])(
    'is a 422 if it is %j',
    async (project) => {
      const response = await send({ model }, project);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ detail: [{ loc: ['header', 'openai-project'] }] });
    },
  );

  it('is a 422 if it occurs twice, even with good values', async () => {
    const headers = ['OpenAI-Project', newProject(), 'openai-project', newProject()];
    const url = `${service.url}/inference/v1/chat/completions`;
    const asking = request(url, {
      method: 'POST',
      headers: [...headers, 'host', 'localhost', 'authorization', `Bearer ${service.key}`],
    });
    asking.end(JSON.stringify({ model }));
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    expect([answer.statusCode, JSON.parse(await text(answer))]).toMatchObject([
      422,
      { detail: [{ loc: ['header', 'openai-project'], msg: 'this header should be sent once' }] },
    ]);
  });

  it('requires inference and write on the project; without it, inference on any is enough', async () => {
    upstream.behave(json(completion({ content: 'x' })));
    const project = newProject();
    const statusWith = async (grants: Grant[], named: string | undefined) =>
      (await send({ model }, named, { key: await keyWith(...grants) })).status;
    const inference: Grant = { scope: project, role: 'inference' };
    const write: Grant = { scope: project, role: 'write' };
    expect(await statusWith([write], undefined)).toBe(403);
    expect(await statusWith([inference], undefined)).toBe(200);
    expect(await statusWith([write], project)).toBe(403);
    expect(await statusWith([inference], project)).toBe(403);
    expect(await statusWith([inference, write], 'acme/other')).toBe(403);
    expect(await statusWith([inference, { scope: project, role: 'read' }], project)).toBe(403);
    expect(await statusWith([inference, write], project)).toBe(200);
    expect(await recorded(project)).toMatchObject({ svc_user_id: 'bob' });
  });
});

describe('a record that cannot be written', () => {
  /** The service on a table to which this happens when calls are written. */
  const faulty = async (decide: () => Fault) => {
    const proxy = await startFaultyProxy(inject('stores').dynamodb, ({ operation }) =>
      operation === 'BatchWriteItem' ? decide() : 'none',
    );
    const other = await startService({ dynamodb: proxy.endpoint, inference: { baseUrl: upstream.baseUrl } });
    return {
      other,
      stop: async () => {
        await other.stop();
        await proxy[Symbol.asyncDispose]();
      },
    };
  };

  it('immediately does not delay the answer', async () => {
    let hung = 0;
    const { other, stop } = await faulty(() => (hung++ === 0 ? 'hang' : 'none'));
    upstream.behave(events([event(chunk({ content: 'fast' })), done]));
    const project = newProject();
    const response = await send({ model, stream: true }, project, { target: other, key: other.key });
    expect(await response.text()).toContain('[DONE]');
    // The table has been asked and has not answered, which it will not for three seconds.
    await expect.poll(() => hung).toBe(1);
    expect(await (await other.post('/calls/stream_query', { project_id: project })).text()).toBe('');
    expect(await recorded(project, other)).toMatchObject({
      output: { choices: [{ message: { content: 'fast' } }] },
    });
    await stop();
  });

  it('at all is logged without the client’s knowledge', async () => {
    const { other, stop } = await faulty(() => 'refuse');
    upstream.behave(json(completion({ content: 'fine' })));
    const response = await send({ model }, newProject(), { target: other, key: other.key });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(completion({ content: 'fine' }));
    await expect.poll(() => other.logged.join('\n')).toContain('"recordError":');
    await stop();
  });
});
