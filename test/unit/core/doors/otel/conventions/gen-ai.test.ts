import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { makeSpan } from '../../../../../support/otel/spans.ts';

describe('OpenTelemetry GenAI attributes', () => {
  it('reads structured messages as well as JSON text', () => {
    const { inputs } = translate(
      makeSpan({
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'hi' }] }],
        },
      }),
    );
    expect(inputs).toEqual({ messages: [{ role: 'user', content: 'hi' }] });
  });

  it('keeps parts of other kinds beside the text', () => {
    const image = { type: 'uri', modality: 'image', uri: 'https://example.com/cat.png' };
    const { inputs } = translate(
      makeSpan({
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.input.messages': JSON.stringify([
            { role: 'user', parts: [{ type: 'text', content: 'what?' }, image] },
          ]),
        },
      }),
    );
    expect(inputs.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'what?' }, image] }]);
  });

  it('makes a message of each result that one message holds', () => {
    const { inputs } = translate(
      makeSpan({
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.input.messages': JSON.stringify([
            {
              role: 'tool',
              parts: [
                { type: 'tool_call_response', id: 'a', response: { ok: true } },
                { type: 'tool_call_response', id: 'b', result: 'no' },
              ],
            },
          ]),
        },
      }),
    );
    expect(inputs.messages).toEqual([
      { role: 'tool', content: '{"ok":true}', tool_call_id: 'a' },
      { role: 'tool', content: 'no', tool_call_id: 'b' },
    ]);
  });

  it('counts cached, written and reasoning tokens, and numbers that are text', () => {
    const { usage } = translate(
      makeSpan({
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.response.model': 'm',
          'gen_ai.usage.input_tokens': '30',
          'gen_ai.usage.output_tokens': 5n,
          'gen_ai.usage.cache_read.input_tokens': 10,
          'gen_ai.usage.cache_creation.input_tokens': 4,
          'gen_ai.usage.reasoning.output_tokens': 3,
        },
      }),
    );
    expect(usage).toEqual({
      m: {
        requests: 1,
        input_tokens: 30,
        output_tokens: 5,
        total_tokens: 35,
        cache_read_input_tokens: 10,
        cache_creation_input_tokens: 4,
        input_tokens_details: { cached_tokens: 10 },
        output_tokens_details: { reasoning_tokens: 3 },
      },
    });
  });

  it('adds cached tokens that are more than the prompt, for they are counted beside it', () => {
    const { usage } = translate(
      makeSpan({
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': 'm',
          'gen_ai.usage.input_tokens': 3,
          'gen_ai.usage.cache_read.input_tokens': 100,
        },
      }),
    );
    expect(usage?.m?.input_tokens).toBe(103);
  });

  it('reads a retrieval', () => {
    const { kind, inputs, output } = translate(
      makeSpan({
        attributes: {
          'gen_ai.operation.name': 'retrieval',
          'gen_ai.retrieval.query.text': 'cats',
          'gen_ai.retrieval.documents': '[{"id":"d1","score":0.5}]',
        },
      }),
    );
    expect([kind, inputs, output]).toEqual(['retriever', { query: 'cats' }, [{ id: 'd1', score: 0.5 }]]);
  });

  it('takes a span with the name of a tool and no operation for its call', () => {
    expect(translate(makeSpan({ attributes: { 'gen_ai.tool.name': 'get_weather' } })).kind).toBe('tool');
  });

  it('leaves broken JSON as the text it is', () => {
    const { inputs } = translate(
      makeSpan({
        attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': '[{"role":"user","par' },
      }),
    );
    expect(inputs.messages).toEqual([{ role: 'user', content: '[{"role":"user","par' }]);
  });

  it.each(['cache_creation.input_tokens', 'cache_write.input_tokens'])('reads %s', (name) => {
    const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 9 };
    const { usage } = translate(makeSpan({ attributes: { ...attributes, [`gen_ai.usage.${name}`]: 5 } }));
    expect(usage?.unknown).toMatchObject({ input_tokens: 9, cache_creation_input_tokens: 5 });
  });

  it('keeps the sources of a text', () => {
    const part = { type: 'text', content: 'hi', annotations: [{ url: 'https://example.com' }] };
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [part] }]),
    };
    expect(translate(makeSpan({ attributes })).output).toEqual({
      messages: [{ role: 'assistant', content: [part] }],
    });
  });
});

const chat = { 'gen_ai.operation.name': 'chat' };

describe('OpenTelemetry GenAI span events', () => {
  it('reads a body that is JSON in one attribute, as the Azure SDKs write it', () => {
    const { inputs, output } = translate(
      makeSpan({
        attributes: chat,
        events: [
          ['gen_ai.user.message', { 'gen_ai.event.content': '{"role":"user","content":"hi"}' }],
          [
            'gen_ai.choice',
            { 'gen_ai.event.content': '{"message":{"content":"hello"},"finish_reason":"stop","index":0}' },
          ],
        ],
      }),
    );
    expect(inputs).toEqual({ messages: [{ role: 'user', content: 'hi' }] });
    expect(output).toEqual({
      messages: [{ role: 'assistant', content: 'hello', finish_reason: 'stop' }],
    });
  });

  it('reads the events of prompt and completion that came before messages', () => {
    const { inputs, output, usedEvents } = translate(
      makeSpan({
        attributes: chat,
        events: [
          ['gen_ai.content.prompt', { 'gen_ai.prompt': '[{"role":"user","content":"hi"}]' }],
          ['something', {}],
          ['gen_ai.content.completion', { 'gen_ai.completion': 'hello' }],
        ],
      }),
    );
    expect(inputs.messages).toEqual([{ role: 'user', content: 'hi' }]);
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello' }] });
    expect([...usedEvents].sort()).toEqual([0, 2]);
  });

  it('reads the event that has all details of a request', () => {
    const text = (role: string, content: string) =>
      JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
    const details = 'gen_ai.client.inference.operation.details';
    const { inputs, output } = translate(
      makeSpan({
        attributes: chat,
        events: [
          [details, { 'gen_ai.input.messages': text('user', 'hi') }],
          [details, { 'gen_ai.output.messages': text('assistant', 'hello') }],
        ],
      }),
    );
    expect(inputs.messages).toEqual([{ role: 'user', content: 'hi' }]);
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello' }] });
  });

  it('reads arguments and result of a tool from details', () => {
    const details = 'gen_ai.client.inference.operation.details';
    const call = { type: 'tool_call', id: 'c', name: 'f', arguments: { city: 'Paris' } };
    const response = { type: 'tool_call_response', id: 'c', response: [{ text: 'sunny' }] };
    const { inputs, output } = translate(
      makeSpan({
        attributes: { 'gen_ai.operation.name': 'execute_tool' },
        events: [
          [details, { 'gen_ai.input.messages': JSON.stringify([{ role: 'tool', parts: [call] }]) }],
          [details, { 'gen_ai.output.messages': JSON.stringify([{ role: 'tool', parts: [response] }]) }],
        ],
      }),
    );
    expect([inputs, output]).toEqual([{ city: 'Paris' }, 'sunny']);
  });
});

describe('flattened prompts and completions', () => {
  it('orders messages by their index, whatever the order of attributes', () => {
    const { inputs, kind } = translate(
      makeSpan({
        attributes: {
          'llm.request.type': 'chat',
          'gen_ai.prompt.10.content': 'last',
          'gen_ai.prompt.10.role': 'user',
          'gen_ai.prompt.2.content': 'first',
          'gen_ai.prompt.2.role': 'system',
        },
      }),
    );
    expect(kind).toBe('model');
    expect(inputs.messages).toEqual([
      { role: 'system', content: 'first' },
      { role: 'user', content: 'last' },
    ]);
  });

  it('reads the names that came before', () => {
    const { inputs, output, usage } = translate(
      makeSpan({
        attributes: {
          'llm.request.type': 'completion',
          'llm.request.model': 'm',
          'llm.prompts.0.content': 'hi',
          'llm.completions.0.content': 'hello',
          'llm.usage.prompt_tokens': 2,
          'llm.usage.completion_tokens': 1,
          'gen_ai.system': 'x',
        },
      }),
    );
    expect(inputs).toEqual({ messages: [{ role: 'user', content: 'hi' }], model: 'm' });
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello' }] });
    expect(usage?.m?.total_tokens).toBe(3);
  });

  it('keeps what else a message says, and nothing that is empty', () => {
    const message = 'gen_ai.completion.0';
    const { output } = translate(
      makeSpan({
        attributes: {
          'llm.request.type': 'chat',
          [`${message}.role`]: 'assistant',
          [`${message}.content`]: 'Yes.',
          [`${message}.reasoning`]: 'Hm.',
          [`${message}.mood`]: 'good',
          [`${message}.audio`]: '',
        },
      }),
    );
    const content = [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Yes.' },
    ];
    expect(output).toEqual({ messages: [{ role: 'assistant', content, mood: 'good' }] });
  });
});
