import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('OpenTelemetry GenAI attributes', () => {
  it('reads structured messages as well as JSON text', () => {
    const { inputs } = translate(
      spanOf({
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
      spanOf({
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
      spanOf({
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
      spanOf({
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
      spanOf({
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
      spanOf({
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
    expect(translate(spanOf({ attributes: { 'gen_ai.tool.name': 'get_weather' } })).kind).toBe('tool');
  });

  it('leaves broken JSON as the text it is', () => {
    const { inputs } = translate(
      spanOf({
        attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': '[{"role":"user","par' },
      }),
    );
    expect(inputs.messages).toEqual([{ role: 'user', content: '[{"role":"user","par' }]);
  });

  it.each(['cache_creation.input_tokens', 'cache_write.input_tokens'])('reads %s', (name) => {
    const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 9 };
    const { usage } = translate(spanOf({ attributes: { ...attributes, [`gen_ai.usage.${name}`]: 5 } }));
    expect(usage?.unknown).toMatchObject({ input_tokens: 9, cache_creation_input_tokens: 5 });
  });

  it('keeps the sources of a text', () => {
    const part = { type: 'text', content: 'hi', annotations: [{ url: 'https://example.com' }] };
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [part] }]),
    };
    expect(translate(spanOf({ attributes })).output).toEqual({
      messages: [{ role: 'assistant', content: [part] }],
    });
  });
});
