import Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StreamAssembly } from '../../../../../../core/doors/inference/assembly.ts';
import {
  type Api,
  type ClientApi,
  translate,
} from '../../../../../../core/doors/inference/protocols/index.ts';
import type { JsonObject, JsonValue } from '../../../../../../foundations/wire/index.ts';
import { startUpstream, type TestUpstream } from '../../../../../support/service/upstream.ts';

/** An event of an upstream: its name and its data. */
type Sent = readonly [name: string | undefined, data: JsonValue];

const translation = (from: ClientApi, to: Api, more: JsonObject = {}) => {
  const body = { messages: [{ role: 'user', content: 'x' }], stream: true, ...more };
  const made = translate(from, to, body, 'model-1', { id: 'made', created: 1_700_000_000 });
  if (!made) throw new Error('nothing to translate');
  return made;
};

const withUsage = { stream_options: { include_usage: true } };

/** What the client gets of the upstream's events, before and after it has closed. */
const streamed = (
  from: ClientApi,
  to: Api,
  events: readonly Sent[],
  more: JsonObject = withUsage,
): string => {
  const translator = translation(from, to, from === 'chat' ? more : {}).events();
  const text = events
    .map(([name, data]) => translator.event(name, typeof data === 'string' ? data : JSON.stringify(data)))
    .join('');
  return text + translator.end();
};

/** The data of server-sent events. */
const readData = (text: string): string[] =>
  text
    .split('\n\n')
    .flatMap((event) =>
      event.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : [])),
    );
const readChunks = (text: string): JsonObject[] =>
  readData(text).flatMap((data) => (data === '[DONE]' ? [] : [JSON.parse(data)]));

/** An answer as each of the three APIs streams it, and what it is whole. */
interface Spoken {
  readonly messages: readonly Sent[];
  readonly converse: readonly Sent[];
  readonly chat: readonly Sent[];
}

const named = (data: JsonObject): Sent => [String(data.type), data];
const block = (index: number, content_block: JsonObject, deltas: readonly JsonObject[]): Sent[] => [
  named({ type: 'content_block_start', index, content_block }),
  ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta })),
  named({ type: 'content_block_stop', index }),
];
const chunk = (delta: JsonObject, finish_reason: string | null = null): Sent => [
  undefined,
  {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    model: 'up',
    choices: [{ index: 0, delta, finish_reason }],
  },
];

/** Thinking, text and two calls of tools, in pieces. */
const spoken = (texts: readonly string[], args: readonly string[]): Spoken => ({
  messages: [
    named({
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'up',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 20,
          output_tokens: 1,
        },
      },
    }),
    named({ type: 'ping' }),
    ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: 'H' },
      { type: 'thinking_delta', thinking: 'm.' },
      { type: 'signature_delta', signature: 'sig' },
    ]),
    ...block(
      1,
      { type: 'text', text: '' },
      texts.map((text) => ({ type: 'text_delta', text })),
    ),
    ...block(
      2,
      { type: 'tool_use', id: 'a', name: 'f', input: {} },
      args.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    ),
    ...block(3, { type: 'tool_use', id: 'b', name: 'g', input: {} }, []),
    named({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 50, output_tokens_details: { thinking_tokens: 30 } },
    }),
    named({ type: 'message_stop' }),
  ],
  converse: [
    ['messageStart', { role: 'assistant', p: 'abc' }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'H' } } }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'm.' } } }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'sig' } } }],
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ...texts.map((text): Sent => ['contentBlockDelta', { contentBlockIndex: 1, delta: { text }, p: 'x' }]),
    ['contentBlockStop', { contentBlockIndex: 1 }],
    ['contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 'a', name: 'f' } } }],
    ...args.map(
      (input): Sent => ['contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input } } }],
    ),
    ['contentBlockStop', { contentBlockIndex: 2 }],
    ['contentBlockStart', { contentBlockIndex: 3, start: { toolUse: { toolUseId: 'b', name: 'g' } } }],
    ['contentBlockStop', { contentBlockIndex: 3 }],
    ['messageStop', { stopReason: 'tool_use' }],
    [
      'metadata',
      {
        usage: {
          inputTokens: 10,
          outputTokens: 50,
          totalTokens: 180,
          cacheReadInputTokens: 100,
          cacheWriteInputTokens: 20,
        },
        metrics: { latencyMs: 5 },
      },
    ],
  ],
  chat: [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'H' }),
    chunk({ reasoning_content: 'm.' }),
    ...texts.map((content) => chunk({ content })),
    chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }),
    ...args.map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
    chunk({
      tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } }],
    }),
    chunk({}, 'tool_calls'),
    [
      undefined,
      {
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        model: 'up',
        choices: [],
        usage: {
          prompt_tokens: 130,
          completion_tokens: 50,
          total_tokens: 180,
          prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
          completion_tokens_details: { reasoning_tokens: 30 },
        },
      },
    ],
    [undefined, '[DONE]'],
  ],
});

const usual = spoken(['It is ', 'sunny in Köln ☀.'], ['{"town"', ': "Köln"}']);

let server: TestUpstream;
beforeAll(async () => {
  server = await startUpstream();
});
afterAll(() => server[Symbol.asyncDispose]());

const serve = (text: string) =>
  server.behave((_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(text);
  });

/** What OpenAI's SDK makes of a stream. */
const readByOpenAi = async (text: string) => {
  serve(text);
  const client = new OpenAI({ baseURL: server.baseUrl, apiKey: 'k', maxRetries: 0 });
  const stream = client.chat.completions.stream({
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    stream_options: { include_usage: true },
  });
  return await stream.finalChatCompletion();
};

/** What Anthropic's SDK makes of a stream. */
const readByAnthropic = async (text: string) => {
  serve(text);
  const client = new Anthropic({ baseURL: server.baseUrl.replace('/v1', ''), apiKey: 'k', maxRetries: 0 });
  const stream = client.messages.stream({
    model: 'm',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'x' }],
  });
  return await stream.finalMessage();
};

describe('a streamed answer for OpenAI’s SDK', () => {
  it.each(['messages', 'converse'] as const)('is whole, of %s', async (to) => {
    const answer = await readByOpenAi(streamed('chat', to, usual[to]));
    expect(answer).toMatchObject({
      id: to === 'messages' ? 'msg_1' : 'chatcmpl-made',
      created: 1_700_000_000,
      model: to === 'messages' ? 'up' : 'model-1',
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'It is sunny in Köln ☀.',
            thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'sig' }],
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'f', arguments: '{"town": "Köln"}' } },
              { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
            ],
          },
        },
      ],
      usage: {
        prompt_tokens: 130,
        completion_tokens: 50,
        total_tokens: 180,
        prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
        ...(to === 'messages' && { completion_tokens_details: { reasoning_tokens: 30 } }),
      },
    });
  });

  it('has its usage only if the client asks for it', () => {
    const chunks = readChunks(streamed('chat', 'messages', usual.messages, {}));
    expect(chunks.filter(({ usage }) => usage)).toEqual([]);
  });

  it.each([
    [
      'messages',
      [named({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })],
      'overloaded_error',
    ],
    ['converse', [['throttlingException', { message: 'Overloaded' }]], 'throttlingException'],
    ['converse', [['InternalFailure', { message: 'Overloaded' }]], 'InternalFailure'],
  ] as const)('throws the error that comes inside, of %s', async (to, error, code) => {
    const events = [
      ...usual[to].slice(0, 5),
      ...(error as unknown as readonly Sent[]),
      ...usual[to].slice(5),
    ];
    await expect(readByOpenAi(streamed('chat', to, events))).rejects.toThrow(
      expect.objectContaining({ code, message: expect.stringContaining('Overloaded') }),
    );
  });
});

describe('a streamed answer for Anthropic’s SDK', () => {
  it.each(['chat', 'converse'] as const)('is whole, of %s', async (to) => {
    const answer = await readByAnthropic(streamed('messages', to, usual[to]));
    expect(answer).toMatchObject({
      id: to === 'chat' ? 'chatcmpl-1' : 'msg_made',
      model: to === 'chat' ? 'up' : 'model-1',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: to === 'chat' ? '' : 'sig' },
        { type: 'text', text: 'It is sunny in Köln ☀.' },
        { type: 'tool_use', id: 'a', name: 'f', input: { town: 'Köln' } },
        { type: 'tool_use', id: 'b', name: 'g', input: {} },
      ],
      stop_reason: 'tool_use',
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
        output_tokens: 50,
        ...(to === 'chat' && { output_tokens_details: { thinking_tokens: 30 } }),
      },
    });
  });

  it.each([
    [
      'chat',
      [[undefined, { error: { message: 'Slow down', code: 'rate_limit_exceeded' } }]],
      'rate_limit_error',
    ],
    ['converse', [['serviceUnavailableException', { message: 'Slow down' }]], 'overloaded_error'],
    ['converse', [['messageStop', { stopReason: 'malformed_tool_use' }]], 'api_error'],
  ] as const)('throws the error that comes inside, of %s', async (to, error, type) => {
    const events = [...usual[to].slice(0, 3), ...(error as unknown as readonly Sent[])];
    await expect(readByAnthropic(streamed('messages', to, events))).rejects.toThrow(type);
  });

  it('has calls of tools that come out of order, without ids, or with all in one piece', async () => {
    const events = [
      chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{"a":' } }] }),
      chunk({ tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: '{"b":2}' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
      chunk({}, 'stop'),
      [undefined, '[DONE]'] as const,
    ];
    const answer = await readByAnthropic(streamed('messages', 'chat', events));
    expect(answer.stop_reason).toBe('tool_use');
    expect(answer.content).toMatchObject([
      { type: 'tool_use', id: 'call_0', name: 'f', input: { a: 1 } },
      { type: 'tool_use', id: 'b', name: 'g', input: { b: 2 } },
    ]);
  });
});

describe('a stream', () => {
  const directions = [
    ['chat', 'messages'],
    ['chat', 'converse'],
    ['messages', 'chat'],
    ['messages', 'converse'],
  ] as const;

  it.each(directions)('for %s of %s that breaks anywhere is an error, and never looks whole', (from, to) => {
    const events = usual[to];
    const last = events.findIndex(([name, data]) => {
      const text = JSON.stringify(data);
      return (
        name === 'message_delta' || name === 'messageStop' || text.includes('"finish_reason":"tool_calls"')
      );
    });
    for (let cut = 0; cut <= last; cut++) {
      const data = readData(streamed(from, to, events.slice(0, cut)));
      expect(data.at(-1)).toContain('the upstream closed its answer before it was complete');
      expect(data.join()).not.toMatch(/\[DONE\]|message_stop/);
    }
  });

  it.each(directions)('for %s of %s is whole once the answer is, whatever comes then', (from, to) => {
    const translator = translation(from, to).events();
    for (const [name, data] of usual[to])
      translator.event(name, typeof data === 'string' ? data : JSON.stringify(data));
    expect(translator.isComplete).toBe(true);
    for (const [name, data] of usual[to])
      expect(translator.event(name, typeof data === 'string' ? data : JSON.stringify(data))).toBe('');
    expect(translator.end()).toBe('');
  });

  it.each(directions)('for %s of %s is an error where an event is no JSON', (from, to) => {
    const translator = translation(from, to).events();
    expect(translator.event(undefined, '{"cut')).toContain('the upstream sent an event that is not JSON');
    expect(translator.isComplete).toBe(true);
  });

  it.each(directions)(
    'for %s of %s gives what its whole answer would have, however it is cut',
    (from, to) => {
      const pieces = fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1, maxLength: 6 });
      const json = fc.json({ maxDepth: 2 }).filter((text) => text !== '{}' && text.startsWith('{'));
      fc.assert(
        fc.property(pieces, json, fc.nat(), (texts, args, at) => {
          const cut = at % args.length;
          const events = spoken(texts, [args.slice(0, cut), args.slice(cut)])[to];
          const assembly = new StreamAssembly();
          assembly.add(new Uint8Array(Buffer.from(streamed(from, to, events))));
          const { output, error } = assembly.end();
          expect(error).toBeUndefined();
          const text = texts.join('');
          const input = JSON.parse(args);
          if (from === 'chat')
            expect(output).toMatchObject({
              choices: [{ message: { content: text, tool_calls: [{ function: { arguments: args } }, {}] } }],
            });
          else
            expect(output).toMatchObject({ content: [{}, { type: 'text', text }, { name: 'f', input }, {}] });
        }),
      );
    },
  );

  it('shows that the upstream is there while it thinks', () => {
    expect(translation('chat', 'messages').events().event('ping', '{"type":"ping"}')).toBe(': ping\n\n');
  });

  it('without an answer of its own is an empty answer', async () => {
    const events: Sent[] = [
      chunk({ role: 'assistant', content: '' }),
      chunk({}, 'stop'),
      [undefined, '[DONE]'],
    ];
    const answer = await readByAnthropic(streamed('messages', 'chat', events));
    expect(answer).toMatchObject({ content: [], stop_reason: 'end_turn' });
  });

  it('ends without what some upstreams leave out: usage and the last event', () => {
    const chat = streamed('messages', 'chat', [chunk({ content: 'x' }), chunk({}, 'stop')]);
    expect(chat).toContain('"type":"message_stop"');
    const converse = streamed('chat', 'converse', [['messageStop', { stopReason: 'end_turn' }]]);
    expect(converse.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(converse).not.toContain('"usage"');
  });
});
