import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Api,
  type ClientApi,
  translate,
} from '../../../../../../core/doors/inference/protocols/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ServiceError,
} from '../../../../../../foundations/wire/index.ts';
import { mutated } from '../../../../../support/values/mutated.ts';

const directions: readonly (readonly [ClientApi, Api])[] = [
  ['chat', 'messages'],
  ['chat', 'converse'],
  ['messages', 'chat'],
  ['messages', 'converse'],
];

const models = [
  'claude-sonnet-4-5',
  'eu.anthropic.claude-opus-5',
  'eu.amazon.nova-2-lite-v1:0',
  'openai.gpt-oss-20b-1:0',
  'm',
];

/** Requests that have a bit of everything. */
const requests: Readonly<Record<ClientApi, JsonObject>> = {
  chat: {
    messages: [
      {
        role: 'system',
        content: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 't' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'file', file: { filename: 'f', file_data: 'data:application/pdf;base64,AAAA' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        thinking_blocks: [{ type: 'thinking', thinking: 't', signature: 's' }],
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'r' },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } }],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } },
    reasoning_effort: 'low',
    max_tokens: 3000,
    stop: ['x'],
    stream: true,
    stream_options: { include_usage: true },
  },
  messages: {
    system: [{ type: 'text', text: 's' }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 't' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          {
            type: 'document',
            source: { type: 'content', content: [{ type: 'text', text: 'x' }] },
            title: 't',
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 't', signature: 's' },
          { type: 'tool_use', id: 'a', name: 'f', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'r' }] }],
      },
      { role: 'system', content: 's', output_config: { effort: 'low' } },
    ],
    tools: [{ name: 'f', input_schema: { type: 'object' }, defer_loading: true }],
    tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 2000 },
    output_config: { format: { type: 'json_schema', schema: {} } },
    context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
    max_tokens: 3000,
    stop_sequences: ['x'],
  },
};

const answers: Readonly<Record<Api, JsonObject>> = {
  chat: {
    id: 'c',
    model: 'm',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          content: 't',
          reasoning_content: 'r',
          tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"a":1}' } }],
        },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 } },
  },
  messages: {
    id: 'c',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 't', signature: 's' },
      { type: 'text', text: 't' },
      { type: 'tool_use', id: 'a', name: 'f', input: { a: 1 } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 1 },
  },
  converse: {
    output: {
      message: {
        content: [
          { reasoningContent: { reasoningText: { text: 't', signature: 's' } } },
          { text: 't' },
          { toolUse: { toolUseId: 'a', name: 'f', input: { a: 1 } } },
        ],
      },
    },
    stopReason: 'tool_use',
    usage: { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 1 },
  },
};

const events: Readonly<Record<Api, readonly (readonly [string | null, JsonValue])[]>> = {
  chat: [
    [
      null,
      {
        id: 'c',
        choices: [{ index: 0, delta: { role: 'assistant', content: 't', reasoning_content: 'r' } }],
      },
    ],
    [
      null,
      {
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] },
          },
        ],
      },
    ],
    [null, { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }],
    [null, { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }],
  ],
  messages: [
    ['message_start', { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1 } } }],
    [
      'content_block_start',
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} },
      },
    ],
    [
      'content_block_delta',
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{}' } },
    ],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    [
      'message_delta',
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
    ],
    ['message_stop', { type: 'message_stop' }],
  ],
  converse: [
    ['messageStart', { role: 'assistant' }],
    ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'a', name: 'f' } } }],
    ['contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: '{}' } } }],
    ['contentBlockDelta', { contentBlockIndex: 1, delta: { reasoningContent: { text: 't' } } }],
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['messageStop', { stopReason: 'tool_use' }],
    ['metadata', { usage: { inputTokens: 1, outputTokens: 2 } }],
  ],
};

const translation = (from: ClientApi, to: Api) => {
  const made = translate(from, to, { messages: [{ role: 'user', content: 'x' }] }, 'm');
  if (!made) throw new Error('nothing to translate');
  return made;
};

const twice = (values: fc.Arbitrary<unknown>) => fc.oneof(mutated(values), mutated(mutated(values)));

/** Fails with anything but an error that the client is told. */
const orServiceError = (task: () => unknown, statuses: (status: number) => boolean): void => {
  try {
    expect(JSON.stringify(task())).toBeTypeOf('string');
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.status).toSatisfy(statuses);
    for (const { msg } of error.detail) expect(msg).not.toBe('');
  }
};

describe('what nearly is a request, an answer or an event', () => {
  it.each(directions)('is translated from %s to %s or refused with a 422', (from, to) => {
    fc.assert(
      fc.property(twice(fc.constant(requests[from])), fc.constantFrom(...models), (body, model) => {
        fc.pre(isJsonObject(body));
        orServiceError(
          () => translate(from, to, body, model)?.body,
          (status) => status === 422,
        );
        expect(Object.prototype).not.toHaveProperty('polluted');
      }),
    );
  });

  it.each(directions)('is answered to %s of %s or fails as the upstream’s', (from, to) => {
    const made = translation(from, to);
    fc.assert(
      fc.property(twice(fc.constant(answers[to])), (answer) => {
        orServiceError(
          () => made.answer(answer as JsonValue),
          (status) => status >= 400,
        );
        orServiceError(
          () => made.error(500, answer as JsonValue),
          () => false,
        );
      }),
    );
  });

  it.each(directions)('streams to %s of %s as whole server-sent events, with one end', (from, to) => {
    fc.assert(
      fc.property(twice(fc.constant(events[to])), (list) => {
        const translator = translation(from, to).events();
        let text = '';
        for (const event of Array.isArray(list) ? list : []) {
          const [name, data] = Array.isArray(event) ? event : [null, event];
          const sent = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
          text += translator.event(typeof name === 'string' ? name : undefined, sent);
        }
        text += translator.end();
        expect(translator.isComplete).toBe(true);
        expect(text.endsWith('\n\n')).toBe(true);
        const lines = text.split('\n').filter((line) => line.startsWith('data: '));
        for (const line of lines) if (line !== 'data: [DONE]') JSON.parse(line.slice(6));
        const ends = lines.filter((line) =>
          /^data: (\[DONE\]|\{"type":"message_stop"|\{"type":"error"|\{"error")/.test(line),
        );
        expect(ends).toEqual(lines.slice(-1));
      }),
    );
  });

  it.each(['__proto__', 'constructor', 'toString'])('takes %s for a name like any other', (name) => {
    const messages = translation('chat', 'messages');
    expect(messages.answer({ content: [], stop_reason: name })).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
    });
    expect(messages.error(500, { error: { type: name, message: 'm' } })).toMatchObject({
      error: { code: name },
    });
    const chat = translation('messages', 'chat');
    const choices = [{ message: { content: 'x' }, finish_reason: name }];
    expect(chat.answer({ choices })).toMatchObject({ stop_reason: 'end_turn' });
    expect(chat.events().event(undefined, JSON.stringify({ error: { type: name } }))).toContain(
      '"api_error"',
    );
    const converse = translation('chat', 'converse').answer({ output: { message: {} }, stopReason: name });
    expect(converse).toMatchObject({ choices: [{ message: { refusal: null }, finish_reason: 'stop' }] });
    const events = translation('chat', 'messages').events();
    events.event(
      'content_block_start',
      JSON.stringify({ index: 0, content_block: { type: 'text', text: '' } }),
    );
    expect(events.event('content_block_delta', JSON.stringify({ index: 0, delta: { type: name } }))).toBe('');
    const image = { type: 'image_url', image_url: { url: `data:${name};base64,AAAA` } };
    const body = { messages: [{ role: 'user', content: [image] }], tool_choice: name };
    expect(() => translate('chat', 'converse', body, 'm')).toThrow(
      expect.objectContaining({
        detail: [
          expect.objectContaining({ loc: ['body', 'tool_choice'] }),
          expect.objectContaining({ loc: ['body', 'messages', '0', 'content', '0'] }),
        ],
      }),
    );
  });

  it('keeps the prototype of objects as it is', () => {
    const value = JSON.parse(
      '{"content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"__proto__": {"x": 1}}}]}',
    );
    expect(JSON.stringify(translation('chat', 'messages').answer(value))).toContain(
      '{\\"__proto__\\":{\\"x\\":1}}',
    );
  });
});
