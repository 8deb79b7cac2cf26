import { describe, expect, it } from 'vitest';
import {
  type Api,
  type ClientApi,
  translate,
} from '../../../../../../core/doors/inference/protocols/index.ts';
import {
  type JsonObject,
  type JsonValue,
  parseJson,
  ServiceError,
} from '../../../../../../foundations/wire/index.ts';

const translation = (from: ClientApi, to: Api) => {
  const made = translate(from, to, { messages: [{ role: 'user', content: 'x' }] }, 'model-1', {
    id: 'made',
    created: 1_700_000_000,
  });
  if (!made) throw new Error('nothing to translate');
  return made;
};

const answered = (from: ClientApi, to: Api, value: JsonValue): JsonObject =>
  translation(from, to).answer(value);

const message = (fields: JsonObject): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 2 },
  ...fields,
});

const completion = (message: JsonObject, finish_reason = 'stop', more: JsonObject = {}): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  ...more,
});

const converse = (content: JsonValue, stopReason = 'end_turn', more: JsonObject = {}): JsonObject => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
  metrics: { latencyMs: 5 },
  ...more,
});

const getChoice = (answer: JsonObject): JsonObject => (answer.choices as JsonObject[])[0] ?? {};

describe('an answer', () => {
  it('of Messages is a completion with thinking, tools and usage', () => {
    const value = parseJson(`{
      "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x",
      "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "text", "text": "It is "}, {"type": "text", "text": "sunny."},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 12345678901234567890, "x": 1.0}},
        {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}}
      ],
      "stop_reason": "tool_use", "stop_sequence": null,
      "usage": {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20,
        "output_tokens": 50, "output_tokens_details": {"thinking_tokens": 30}}
    }`) as JsonValue;
    expect(answered('chat', 'messages', value)).toEqual({
      id: 'msg_1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'claude-x',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'It is sunny.',
            refusal: null,
            reasoning_content: 'Hm.',
            thinking_blocks: [
              { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
              { type: 'redacted_thinking', data: 'xx' },
            ],
            tool_calls: [
              {
                id: 'toolu_1',
                type: 'function',
                function: { name: 'f', arguments: '{"n":12345678901234567890,"x":1.0}' },
              },
              { id: 'toolu_2', type: 'function', function: { name: 'g', arguments: '{}' } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 130,
        completion_tokens: 50,
        total_tokens: 180,
        prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
        completion_tokens_details: { reasoning_tokens: 30 },
      },
    });
  });

  it('of Converse is a completion under the model that was sent', () => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
      { reasoningContent: { redactedContent: 'eHg=' } },
      { text: 'Hi' },
      { citationsContent: { content: [{ text: ' there' }], citations: [] } },
      { toolUse: { toolUseId: 't1', name: 'f', input: { a: 1 } } },
    ];
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 115,
      cacheReadInputTokens: 80,
      cacheWriteInputTokens: 20,
    };
    expect(answered('chat', 'converse', converse(content, 'tool_use', { usage }))).toMatchObject({
      id: 'chatcmpl-made',
      model: 'model-1',
      choices: [
        {
          message: {
            content: 'Hi there',
            reasoning_content: 'Hm.',
            thinking_blocks: [{ signature: 'sig' }, { data: 'eHg=' }],
            tool_calls: [{ id: 't1', function: { name: 'f', arguments: '{"a":1}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 110,
        completion_tokens: 5,
        total_tokens: 115,
        prompt_tokens_details: { cached_tokens: 80, cache_write_tokens: 20 },
      },
    });
    expect(answered('messages', 'converse', converse(content, 'tool_use', { usage }))).toEqual({
      id: 'msg_made',
      type: 'message',
      role: 'assistant',
      model: 'model-1',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'redacted_thinking', data: 'eHg=' },
        { type: 'text', text: 'Hi' },
        { type: 'text', text: ' there' },
        { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 80,
        output_tokens: 5,
      },
    });
  });

  it('of Chat Completions is a message', () => {
    const value = completion(
      {
        content: 'Hi',
        reasoning_content: 'Hm.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"n":1.0}' } },
          { id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
          { id: 'c', type: 'function', function: { name: 'h', arguments: '{"cut' } },
        ],
      },
      'tool_calls',
      {
        usage: {
          prompt_tokens: 100,
          completion_tokens: 20,
          prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      },
    );
    const answer = answered('messages', 'chat', value);
    expect(answer).toMatchObject({
      id: 'chatcmpl-1',
      model: 'gpt',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: '' },
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 'a', name: 'f' },
        { type: 'tool_use', id: 'b', name: 'g', input: {} },
        { type: 'tool_use', id: 'c', name: 'h', input: '{"cut' },
      ],
      stop_reason: 'tool_use',
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 30,
        output_tokens: 20,
        output_tokens_details: { thinking_tokens: 5 },
      },
    });
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['something_new', 'stop'],
  ])('that ends with Anthropic’s %s has the finish reason %s', (stop_reason, reason) => {
    expect(getChoice(answered('chat', 'messages', message({ stop_reason }))).finish_reason).toBe(reason);
  });

  it.each([
    ['end_turn', 'stop', 'end_turn'],
    ['max_tokens', 'length', 'max_tokens'],
    ['stop_sequence', 'stop', 'stop_sequence'],
    ['tool_use', 'tool_calls', 'tool_use'],
    ['content_filtered', 'content_filter', 'refusal'],
    ['guardrail_intervened', 'content_filter', 'refusal'],
    ['model_context_window_exceeded', 'length', 'model_context_window_exceeded'],
  ])('that ends with Converse’s %s is %s and %s', (stopReason, chat, messages) => {
    const value = converse([{ text: 'x' }], stopReason);
    expect(getChoice(answered('chat', 'converse', value)).finish_reason).toBe(chat);
    expect(answered('messages', 'converse', value).stop_reason).toBe(messages);
  });

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['model_length', 'model_context_window_exceeded'],
    ['tool_calls', 'tool_use'],
    ['function_call', 'tool_use'],
    ['content_filter', 'refusal'],
    ['eos', 'end_turn'],
  ])('that ends with OpenAI’s %s has the stop reason %s', (finish, reason) => {
    expect(answered('messages', 'chat', completion({ content: 'x' }, finish)).stop_reason).toBe(reason);
  });

  it('names the stop sequence where the upstream does', () => {
    const stop = { additionalModelResponseFields: { stop_sequence: 'END' } };
    expect(answered('messages', 'converse', converse([], 'stop_sequence', stop)).stop_sequence).toBe('END');
    const choices = [{ index: 0, message: { content: 'x' }, finish_reason: 'stop', stop_reason: 'END' }];
    expect(answered('messages', 'chat', { choices })).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    });
  });

  it('calls tools even if the upstream says that it has stopped', () => {
    const tool_calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];
    expect(answered('messages', 'chat', completion({ content: null, tool_calls })).stop_reason).toBe(
      'tool_use',
    );
  });

  it('keeps a refusal', () => {
    const refusal = answered('messages', 'chat', completion({ content: null, refusal: 'I will not.' }));
    expect(refusal).toMatchObject({
      content: [{ type: 'text', text: 'I will not.' }],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'I will not.' },
    });
    const details = { stop_details: { type: 'refusal', category: 'bio', explanation: 'Too dangerous.' } };
    const chat = answered('chat', 'messages', message({ stop_reason: 'refusal', ...details }));
    expect(getChoice(chat)).toMatchObject({
      message: { content: null, refusal: 'Too dangerous.' },
      finish_reason: 'content_filter',
    });
  });

  it('has no usage where the upstream counts nothing, if the client’s API allows that', () => {
    const { usage: _none, ...value } = message({});
    expect(answered('chat', 'messages', value)).not.toHaveProperty('usage');
  });

  it.each([
    ['chat', 'messages', {}],
    ['chat', 'converse', null],
    ['messages', 'chat', 'text'],
    ['messages', 'converse', { output: {} }],
    ['messages', 'chat', { choices: [] }],
  ] as const)('to %s of %s is no answer if it is %j', (from, to, value) => {
    expect(() => answered(from, to, value as JsonValue)).toThrow(
      expect.objectContaining({ status: 502, message: expect.stringContaining('no answer of its API') }),
    );
  });

  it('that is an error with a 200 is an error', () => {
    const value = { error: { message: 'Slow down', code: 429 } };
    expect(() => answered('messages', 'chat', value)).toThrow(
      expect.objectContaining({ status: 429, message: 'Slow down' }),
    );
    const malformed = converse([], 'malformed_tool_use');
    expect(() => answered('chat', 'converse', malformed)).toThrow(ServiceError);
  });
});

describe('an error', () => {
  it.each([
    [400, 'invalid_request_error', 'invalid_request_error'],
    [401, 'authentication_error', 'authentication_error'],
    [402, 'invalid_request_error', 'billing_error'],
    [403, 'permission_error', 'permission_error'],
    [404, 'not_found_error', 'not_found_error'],
    [413, 'invalid_request_error', 'request_too_large'],
    [429, 'rate_limit_error', 'rate_limit_error'],
    [500, 'server_error', 'api_error'],
    [503, 'server_error', 'overloaded_error'],
    [504, 'server_error', 'timeout_error'],
    [529, 'server_error', 'overloaded_error'],
  ])('of status %d is of OpenAI’s type %s and Anthropic’s %s', (status, openAi, anthropic) => {
    const bedrock = { message: 'No.' };
    expect(translation('chat', 'converse').error(status, bedrock)).toEqual({
      error: { message: 'No.', type: openAi, param: null, code: null },
    });
    expect(translation('messages', 'converse').error(status, bedrock)).toEqual({
      type: 'error',
      error: { type: anthropic, message: 'No.' },
    });
  });

  it('keeps its message and the upstream’s name for it', () => {
    const anthropic = {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
      request_id: 'r',
    };
    expect(translation('chat', 'messages').error(529, anthropic)).toEqual({
      error: { message: 'Overloaded', type: 'server_error', param: null, code: 'overloaded_error' },
    });
    const openAi = {
      error: { message: 'Too long', type: 'invalid_request_error', code: 'context_length_exceeded' },
    };
    expect(translation('messages', 'chat').error(400, openAi)).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Too long' },
    });
  });

  it.each([
    ['<html>502 Bad Gateway</html>', '<html>502 Bad Gateway</html>'],
    ['', 'the upstream gave no reason'],
    [{ error: 'overloaded' }, 'overloaded'],
    [{ Message: 'User is not authorized' }, 'User is not authorized'],
    [{ detail: [{ msg: 'x' }] }, '{"detail":[{"msg":"x"}]}'],
  ])('has a message whatever its body is: %j', (body, text) => {
    expect(translation('messages', 'chat').error(502, body)).toEqual({
      type: 'error',
      error: { type: 'api_error', message: text },
    });
  });
});
