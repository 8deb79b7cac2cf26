import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import Anthropic from '@anthropic-ai/sdk';
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import {
  awsError,
  converseAnswer,
  exceptionFrame,
  type FakeBedrock,
  frame,
  frames,
  startBedrock,
  textFrames,
} from '../../../../support/service/bedrock.ts';
import { startService, type TestService } from '../../../../support/service/service.ts';
import { events } from '../../../../support/service/upstream.ts';

const nova = 'amazon.nova-lite-v1:0';
const claude = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const mantle = 'anthropic.claude-opus-4-8';
const models = [
  nova,
  claude,
  mantle,
  { match: 'claude-by-converse', send: claude, api: 'converse' },
  'openai.gpt-oss-20b-1:0',
];

let bedrock: FakeBedrock;
let service: TestService;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  bedrock = await startBedrock(() => service.credentials);
  const upstream = { name: 'bedrock', bedrock: { region: 'eu-west-1' }, baseUrl: bedrock.origin, models };
  service = await startService({ upstreams: [upstream] });
  const options = { apiKey: service.key, maxRetries: 0 };
  openai = new OpenAI({ ...options, baseURL: `${service.url}/inference/v1` });
  anthropic = new Anthropic({ ...options, baseURL: `${service.url}/inference` });
});
afterAll(async () => {
  await service.stop();
  await bedrock[Symbol.asyncDispose]();
});

const ask = { role: 'user' as const, content: 'Weather in Graz?' };

/** Answers Converse with JSON. */
const converse =
  (content: readonly object[], stopReason = 'end_turn', more: object = {}) =>
  (_request: unknown, res: import('node:http').ServerResponse) =>
    res
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(converseAnswer(content, stopReason, more)));

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Sunny' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 3, cache_read_input_tokens: 5, cache_creation_input_tokens: 0 },
};

const messageEvents = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Sun' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ny' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 3 },
  },
  { type: 'message_stop' },
].map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);

const sendJson = (value: object) => (_request: unknown, res: import('node:http').ServerResponse) =>
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

describe('the Bedrock of the tests is right: its clients', () => {
  const client = () =>
    createAmazonBedrock({ region: 'eu-west-1', ...service.credentials, baseURL: bedrock.origin });

  it('get an answer', async () => {
    bedrock.behave(converse([{ text: 'Sunny' }]));
    const { text, usage } = await generateText({ model: client()(nova), prompt: 'Weather?' });
    expect([text, usage.totalTokens]).toEqual(['Sunny', 12]);
    expect(bedrock.last()).toMatchObject({
      url: '/model/amazon.nova-lite-v1%3A0/converse',
      signedFor: 'bedrock eu-west-1',
    });
  });

  it('get a stream', async () => {
    bedrock.behave(frames(textFrames(['Sun', 'ny'])));
    const { textStream } = streamText({ model: client()(nova), prompt: 'Weather?' });
    expect(await Array.fromAsync(textStream)).toEqual(['Sun', 'ny']);
  });

  it('are refused with another key', async () => {
    const before = bedrock.refused();
    const other = createAmazonBedrock({
      region: 'eu-west-1',
      accessKeyId: service.credentials.accessKeyId,
      secretAccessKey: 'another',
      baseURL: bedrock.origin,
    });
    const asking = generateText({ model: other(nova), prompt: 'Weather?', maxRetries: 0 });
    await expect(asking).rejects.toThrow(/signature/);
    expect(bedrock.refused()).toBe(before + 1);
  });
});

describe("a model that speaks Converse, asked by OpenAI's client", () => {
  it('answers', async () => {
    bedrock.behave(converse([{ text: 'Sunny' }]));
    const answer = await openai.chat.completions.create({ model: nova, messages: [ask] });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Sunny' } });
    expect(answer.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 });
    const { url, signedFor, body } = bedrock.last();
    expect([url, signedFor]).toEqual(['/model/amazon.nova-lite-v1%3A0/converse', 'bedrock eu-west-1']);
    expect(body.messages).toEqual([{ role: 'user', content: [{ text: 'Weather in Graz?' }] }]);
    expect(body).not.toHaveProperty('model');
  });

  it('streams, with each event as it comes', async () => {
    let sendRest = () => {};
    const [start, first, ...rest] = textFrames(['Sun', 'ny']);
    bedrock.behave((_request, res) => {
      res.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      for (const bytes of [start, first]) res.write(bytes);
      sendRest = () => {
        for (const bytes of rest) res.write(bytes);
        res.end();
      };
    });
    const stream = await openai.chat.completions.create({
      model: nova,
      messages: [ask],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let usage: unknown;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
      if (text === 'Sun') sendRest();
    }
    expect(text).toBe('Sunny');
    expect(usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 });
    expect(bedrock.last().url).toBe('/model/amazon.nova-lite-v1%3A0/converse-stream');
  });

  it('streams whatever pieces its frames come in', async () => {
    const bytes = Buffer.concat(textFrames(['Schön, ', '27 °C ☀️']));
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) =>
      bytes.subarray(7 * i, 7 * i + 7),
    );
    bedrock.behave(frames(pieces));
    const stream = await openai.chat.completions.create({ model: nova, messages: [ask], stream: true });
    const texts = (await Array.fromAsync(stream)).map(({ choices }) => choices[0]?.delta.content ?? '');
    expect(texts.join('')).toBe('Schön, 27 °C ☀️');
  });

  it('gets the exception inside a stream as an error', async () => {
    bedrock.behave(
      frames([...textFrames(['Sun']).slice(0, 2), exceptionFrame('throttlingException', 'Too many tokens')]),
    );
    const stream = await openai.chat.completions.create({ model: nova, messages: [ask], stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow('Too many tokens');
  });

  it.each([
    ['that breaks off', (res: import('node:http').ServerResponse) => res.destroy(), textFrames(['Sun'])],
    [
      'whose last frame is cut in half',
      (res: import('node:http').ServerResponse) => res.end(),
      [...textFrames(['Sun']).slice(0, 2), frame('messageStop', { stopReason: 'end_turn' }).subarray(0, 30)],
    ],
  ])('takes no stream %s for a whole one', async (_name, end, pieces) => {
    bedrock.behave(frames(pieces.slice(0, 3), end));
    const stream = await openai.chat.completions.create({ model: nova, messages: [ask], stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow();
  });

  it("gets its errors in the client's shape", async () => {
    bedrock.behave(awsError(400, 'ValidationException', 'The model has no tools'));
    const asking = openai.chat.completions.create({ model: nova, messages: [ask] });
    await expect(asking).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('The model has no tools'),
      requestID: expect.any(String),
    });
  });

  it('says what is wrong if the answer is HTML', async () => {
    bedrock.behave((_request, res) =>
      res.writeHead(200, { 'content-type': 'text/html' }).end('<html>Busy</html>'),
    );
    await expect(openai.chat.completions.create({ model: nova, messages: [ask] })).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('the upstream bedrock answered with what is not JSON'),
    });
  });

  it('calls tools', async () => {
    bedrock.behave(
      converse([{ toolUse: { toolUseId: 't1', name: 'weather', input: { city: 'Graz' } } }], 'tool_use'),
    );
    const answer = await openai.chat.completions.create({
      model: nova,
      messages: [ask],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
    });
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ id: 't1', function: { name: 'weather', arguments: '{"city":"Graz"}' } }] },
    });
  });

  it('is recorded as the client saw it', async () => {
    bedrock.behave(converse([{ text: 'Sunny' }]));
    const project = 'acme/bedrock';
    await openai.chat.completions.create(
      { model: nova, messages: [ask] },
      { headers: { 'openai-project': project } },
    );
    let text = '';
    await expect
      .poll(async () => {
        text = await (await service.post('/calls/stream_query', { project_id: project })).text();
        return text;
      })
      .not.toBe('');
    const call = JSON.parse(text) as JsonObject;
    expect(call).toMatchObject({
      op_name: 'openai.chat.completions.create',
      inputs: { model: nova, messages: [ask] },
      output: { object: 'chat.completion', choices: [{ message: { content: 'Sunny' } }] },
      exception: null,
      attributes: { inference: { upstream: 'bedrock', upstream_model: nova } },
      summary: {
        inference: {
          status: 200,
          upstream_request_id: expect.stringMatching(/^aws-/),
          attempts: [{ upstream: 'bedrock', status: 200, ms: expect.any(Number) }],
        },
      },
    });
  });

  it('refuses paths that nobody there takes', async () => {
    await expect(openai.embeddings.create({ model: nova, input: 'Hi' })).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('takes no requests to /embeddings'),
    });
  });
});

describe('Claude on Bedrock', () => {
  it("gets requests of Anthropic's client as they are", async () => {
    bedrock.behave(sendJson(message));
    const headers = { 'anthropic-version': '2023-01-01', 'anthropic-beta': 'a-beta' };
    const params = { model: claude, max_tokens: 10, messages: [ask] };
    const answer = await anthropic.messages.create(params, { headers });
    expect(answer.content).toEqual(message.content);
    const { url, signedFor, body, headers: sent } = bedrock.last();
    expect([url, signedFor]).toEqual(['/anthropic/v1/messages', 'bedrock eu-west-1']);
    expect(body).toEqual(params);
    expect(sent).toMatchObject(headers);
    expect(sent).not.toHaveProperty('x-api-key');
  });

  it('streams to it as it is', async () => {
    bedrock.behave(events(messageEvents) as never);
    const stream = anthropic.messages.stream({ model: claude, max_tokens: 10, messages: [ask] });
    expect((await stream.finalMessage()).content).toMatchObject([{ type: 'text', text: 'Sunny' }]);
  });

  it.each([
    ['by Messages', claude, '/anthropic/v1/messages', 'bedrock'],
    ['by Messages on Mantle', mantle, '/anthropic/v1/messages', 'bedrock-mantle'],
  ])("answers OpenAI's client %s", async (_name, model, url, signedFor) => {
    bedrock.behave(sendJson(message));
    const answer = await openai.chat.completions.create({ model, messages: [ask] });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Sunny' } });
    expect(answer.usage).toMatchObject({
      prompt_tokens: 14,
      completion_tokens: 3,
      prompt_tokens_details: { cached_tokens: 5 },
    });
    expect(bedrock.last()).toMatchObject({ url, signedFor: `${signedFor} eu-west-1` });
    expect(bedrock.last().headers['anthropic-version']).toBe('2023-06-01');

    bedrock.behave(events(messageEvents) as never);
    const stream = await openai.chat.completions.create({ model, messages: [ask], stream: true });
    const texts = (await Array.fromAsync(stream)).map(({ choices }) => choices[0]?.delta.content ?? '');
    expect(texts.join('')).toBe('Sunny');
  });

  it("answers Anthropic's client by Converse, if its rule says so", async () => {
    const params = { model: 'claude-by-converse', max_tokens: 10, messages: [ask] };
    bedrock.behave(converse([{ text: 'Sunny' }]));
    const answer = await anthropic.messages.create(params);
    expect(answer).toMatchObject({ content: [{ type: 'text', text: 'Sunny' }], stop_reason: 'end_turn' });
    expect(bedrock.last().url).toBe(`/model/${encodeURIComponent(claude)}/converse`);

    bedrock.behave(frames(textFrames(['Sun', 'ny'])));
    const streamed = await anthropic.messages.stream(params).finalMessage();
    expect(streamed).toMatchObject({ content: [{ type: 'text', text: 'Sunny' }] });
  });

  it('answers LangChain, by Messages and by Converse', async () => {
    for (const model of [claude, 'claude-by-converse']) {
      const chat = new ChatOpenAI({
        model,
        apiKey: service.key,
        maxRetries: 0,
        configuration: { baseURL: `${service.url}/inference/v1` },
      });
      bedrock.behave(model === claude ? sendJson(message) : converse([{ text: 'Sunny' }]));
      expect((await chat.invoke([new HumanMessage('Weather?')])).content).toBe('Sunny');
      bedrock.behave(model === claude ? (events(messageEvents) as never) : frames(textFrames(['Sun', 'ny'])));
      const chunks = await Array.fromAsync(await chat.stream([new HumanMessage('Weather?')]));
      expect(chunks.map(({ content }) => content).join('')).toBe('Sunny');
    }
  });
});

it('passes chats on to models that speak Chat Completions there', async () => {
  const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'gpt-oss', choices: [] };
  bedrock.behave(sendJson(completion));
  const model = 'openai.gpt-oss-20b-1:0';
  expect(await openai.chat.completions.create({ model, messages: [ask] })).toMatchObject(completion);
  expect(bedrock.last()).toMatchObject({
    url: '/openai/v1/chat/completions',
    signedFor: 'bedrock eu-west-1',
    body: { model, messages: [ask] },
  });
});

it("answers Weave's completions with Claude", async () => {
  bedrock.behave(sendJson(message));
  const answer = await service.post('/weave/completions/create', {
    project_id: 'acme/bedrock',
    inputs: { model: claude, messages: [ask] },
    track_llm_call: false,
  });
  expect(await answer.json()).toMatchObject({
    response: { choices: [{ message: { content: 'Sunny' } }] },
  });
});

it("calls tools through AI SDK's client of OpenAI, from call to result", async () => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name: 'gateway',
    baseURL: `${service.url}/inference/v1`,
    apiKey: service.key,
  });
  const answers = [
    converse([{ toolUse: { toolUseId: 't1', name: 'weather', input: { city: 'Graz' } } }], 'tool_use'),
    converse([{ text: 'Sunny in Graz' }]),
  ];
  bedrock.behave((request, res) => answers.shift()?.(request, res));
  const { text } = await generateText({
    model: provider(nova),
    prompt: 'Weather?',
    tools: {
      weather: tool({
        inputSchema: z.object({ city: z.string() }),
        execute: async ({ city }) => `${city}: sun`,
      }),
    },
    stopWhen: ({ steps }) => steps.length === 2,
  });
  expect(text).toBe('Sunny in Graz');
  expect(bedrock.last().body.messages).toMatchObject([
    { role: 'user' },
    {
      role: 'assistant',
      content: [{ toolUse: { toolUseId: 't1', name: 'weather', input: { city: 'Graz' } } }],
    },
    { role: 'user', content: [{ toolResult: { toolUseId: 't1' } }] },
  ]);
});
