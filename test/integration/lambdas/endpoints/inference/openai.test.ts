import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { formatKey, makeKey } from '../../../../../foundations/auth/index.ts';
import { paced } from '../../../../support/run/pace.ts';
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
import { type KeyMaker, keyMaker } from '../../../security/credentials.ts';

let upstream: TestUpstream;
let service: TestService;
let client: OpenAI;
beforeAll(async () => {
  upstream = await startUpstream();
  service = await startService({ inference: { baseUrl: upstream.baseUrl, key: 'sk-upstream' } });
  client = new OpenAI({ apiKey: service.key, baseURL: `${service.url}/inference/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

const model = 'gpt-test';
const messages = [{ role: 'user' as const, content: 'Weather in Graz?' }];
const tool = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
const toolCall = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Graz"}' },
};

describe('the official client', () => {
  it('completes a chat', async () => {
    upstream.behave(json(completion({ content: 'Sunny' })));
    const answer = await client.chat.completions.create({ model, messages });
    expect(answer.choices[0]?.message.content).toBe('Sunny');
    expect(answer.usage?.total_tokens).toBe(12);
    expect(answer._request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('streams a chat whose characters and events are split anywhere', async () => {
    const text = 'Schön, 27 °C ☀️ 😎';
    const bytes = Buffer.from([...text].map((content) => event(chunk({ content }))).join('') + done);
    upstream.behave(
      events(Array.from({ length: Math.ceil(bytes.length / 5) }, (_, i) => bytes.subarray(i * 5, i * 5 + 5))),
    );
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    let received = '';
    for await (const { choices } of stream) received += choices[0]?.delta.content ?? '';
    expect(received).toBe(text);
  });

  it('calls tools, complete and streamed', async () => {
    upstream.behave(json(completion({ tool_calls: [toolCall] }, 'tool_calls')));
    const answer = await client.chat.completions.create({
      model,
      messages,
      tools: [tool],
      tool_choice: 'auto',
    });
    expect(answer.choices[0]?.message.tool_calls).toEqual([toolCall]);
    expect(upstream.last().body.tools).toEqual([tool]);

    const part = (args: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: args } }] });
    const head = chunk({
      role: 'assistant',
      tool_calls: [{ index: 0, ...toolCall, function: { name: 'weather', arguments: '' } }],
    });
    upstream.behave(
      events([head, part('{"city":'), part('"Graz"}'), chunk({}, 'tool_calls')].map(event).concat(done)),
    );
    const final = await client.chat.completions.stream({ model, messages, tools: [tool] }).finalMessage();
    expect(final.tool_calls).toMatchObject([toolCall]);
  });

  it('gets structured output', async () => {
    upstream.behave(json(completion({ content: '{"celsius":27}', refusal: null })));
    const format = zodResponseFormat(z.object({ celsius: z.number() }), 'weather');
    const answer = await client.chat.completions.parse({ model, messages, response_format: format });
    expect(answer.choices[0]?.message.parsed).toEqual({ celsius: 27 });
    expect(upstream.last().body.response_format).toEqual(format);
  });

  it('gets embeddings', async () => {
    const numbers = [0.25, -0.5];
    upstream.behave(({ body }, res) => {
      const base64 = Buffer.from(new Float32Array(numbers).buffer).toString('base64');
      const embedding = body.encoding_format === 'base64' ? base64 : numbers;
      return json({ object: 'list', model, data: [{ object: 'embedding', index: 0, embedding }] })(
        { body } as never,
        res,
      );
    });
    const { data } = await client.embeddings.create({ model, input: 'text' });
    expect(data[0]?.embedding).toEqual(numbers);
  });

  it('streams a response', async () => {
    const response = { id: 'resp_1', object: 'response', model, output: [], status: 'in_progress' };
    const data = [
      { type: 'response.created', sequence_number: 0, response },
      {
        type: 'response.output_text.delta',
        sequence_number: 1,
        item_id: 'm',
        output_index: 0,
        content_index: 0,
        delta: 'Hi',
      },
      { type: 'response.completed', sequence_number: 2, response: { ...response, status: 'completed' } },
    ];
    upstream.behave(events(data.map((item) => `event: ${item.type}\n${event(item)}`)));
    const types: string[] = [];
    for await (const { type } of await client.responses.create({ model, input: 'Hi', stream: true }))
      types.push(type);
    expect(types).toEqual(data.map(({ type }) => type));
  });

  it('aborts the upstream’s request with its own', async () => {
    upstream.behave(async ({ aborted }, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => res.write(event(chunk({ content: 'on and on ' }))), 5);
      await aborted;
      clearInterval(timer);
    });
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    for await (const _ of stream) break;
    await upstream.last().aborted;
  });

  it('gives up on a slow first byte, and the upstream sees it', async () => {
    // The first answer has the function loaded, which may take longer than the client waits.
    upstream.behave(json(completion({ content: 'Sunny' })));
    await client.chat.completions.create({ model, messages });
    upstream.behave(() => {});
    const options = { timeout: paced(1000) };
    await expect(client.chat.completions.create({ model, messages }, options)).rejects.toThrow(
      OpenAI.APIConnectionTimeoutError,
    );
    await upstream.last().aborted;
  });

  it.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])('throws its own error for a %i of the upstream', async (status, type) => {
    upstream.behave(
      json({ error: { message: 'no', code: 'because', type: 'x' } }, status, { 'retry-after': '3' }),
    );
    const error = await client.chat.completions
      .create({ model, messages })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ status, code: 'because' });
    expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('3');
  });

  it.each([
    ['the body', {}, 422, /^422 temperature .*number/, 'float_type'],
    ['the project', { project: 'nothing' }, 422, /entity/, 'value_error'],
  ])('shows the reason if %s is wrong', async (_, options, status, message, code) => {
    const wrong = client.withOptions(options);
    const body = { model, messages, temperature: 'warm' as unknown as number };
    const error = await wrong.chat.completions.create(body).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status, code, type: expect.stringMatching(/_error$/) });
    expect((error as Error).message).toMatch(message);
  });

  /** What the client throws for a request of another client. */
  const thrownBy = (other: OpenAI, content = 'Hi'): Promise<unknown> =>
    other.chat.completions
      .create({ model, messages: [{ role: 'user', content }] })
      .catch((thrown: unknown) => thrown);

  it.each([
    ['without a key', async () => client.withOptions({ defaultHeaders: { authorization: null } })],
    ['with a wrong key', async () => client.withOptions({ apiKey: formatKey(makeKey()) })],
    ['with what is no key', async () => client.withOptions({ apiKey: 'sk-123' })],
    ['with a revoked key', async (keys: KeyMaker) => client.withOptions({ apiKey: await keys.revoked() })],
    ['with an expired key', async (keys: KeyMaker) => client.withOptions({ apiKey: await keys.expired() })],
  ])('says %s that one is needed', async (_, other) => {
    using keys = keyMaker(service);
    const error = await thrownBy(await other(keys));
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^401 a valid key is required/),
      status: 401,
      code: 'unauthorized',
      type: 'authentication_error',
    });
  });

  it('says of a path that there is none, and of a request that it is too large', async () => {
    await expect(client.files.list()).rejects.toMatchObject({
      message: expect.stringMatching(/^404 no such route/),
      status: 404,
      code: 'not_found',
      type: 'not_found_error',
    });
    await expect(client.images.generate({ prompt: 'A fox', model })).rejects.toMatchObject({
      message: expect.stringMatching(/^404 there is no such path below .inference.v1/),
    });
    expect(await thrownBy(client, 'x'.repeat(7_000_000))).toMatchObject({
      message: expect.stringMatching(/^413 the request is over the 6 MB/),
      status: 413,
      code: 'too_large',
      type: 'invalid_request_error',
    });
  });

  it('says of too many requests when to come again', async () => {
    const narrow = await startService({ settings: { throttleRate: 1, throttleBurst: 1 } });
    try {
      const other = client.withOptions({ apiKey: narrow.key, baseURL: `${narrow.url}/inference/v1` });
      const errors = await Promise.all(Array.from({ length: 5 }, () => thrownBy(other)));
      expect(errors).toContainEqual(
        expect.objectContaining({
          message: '429 too many requests; send the same request again a little later',
          status: 429,
          code: 'throttled',
          type: 'rate_limit_error',
        }),
      );
    } finally {
      await narrow.stop();
    }
  });

  it('waits as long as retry-after says, and tries again', async () => {
    let tries = 0;
    upstream.behave((request, res) =>
      (tries++ === 0
        ? json({ error: { message: 'later' } }, 429, { 'retry-after-ms': '50' })
        : json(completion({ content: 'now' })))(request, res),
    );
    const answer = await client.chat.completions.create({ model, messages }, { maxRetries: 1 });
    expect(answer.choices[0]?.message.content).toBe('now');
    expect(tries).toBe(2);
  });

  it('sees a truncated stream as an error, not as an end', async () => {
    upstream.behave(async (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(event(chunk({ content: 'half' })));
      setTimeout(() => res.destroy(), 50);
    });
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow();
  });

  it('names the project in which its requests are recorded', async () => {
    upstream.behave(json(completion({ content: 'Sunny' })));
    const recording = new OpenAI({
      apiKey: service.key,
      baseURL: client.baseURL,
      project: 'acme/openai-client',
    });
    await recording.chat.completions.create({ model, messages });
    await expect
      .poll(async () =>
        (await service.post('/calls/stream_query', { project_id: 'acme/openai-client' })).text(),
      )
      .toContain('"op_name":"openai.chat.completions.create"');
  });
});

describe('the AI SDK', () => {
  const provider = () =>
    createOpenAICompatible({
      name: 'pennytrace',
      apiKey: service.key,
      baseURL: `${service.url}/inference/v1`,
    });

  it('generates a text', async () => {
    upstream.behave(json(completion({ content: 'Sunny' })));
    const { text } = await generateText({ model: provider()(model), prompt: 'Weather?' });
    expect(text).toBe('Sunny');
  });

  it('streams a text', async () => {
    upstream.behave(
      events(
        [...['Sun', 'ny'].map((content) => event(chunk({ content }))), event(chunk({}, 'stop')), done],
        5,
      ),
    );
    const { textStream } = streamText({ model: provider()(model), prompt: 'Weather?' });
    expect(await Array.fromAsync(textStream)).toEqual(['Sun', 'ny']);
  });
});
