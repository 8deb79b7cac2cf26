import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('OpenInference', () => {
  it('reads parts of messages, and prompts and choices of completions', () => {
    const { inputs, output } = translate(
      spanOf({
        attributes: {
          'openinference.span.kind': 'LLM',
          'llm.model_name': 'm',
          'llm.prompts.0.prompt.text': 'once upon',
          'llm.choices.0.completion.text': 'a time',
        },
      }),
    );
    expect(inputs).toEqual({ messages: [{ role: 'user', content: 'once upon' }], model: 'm' });
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'a time' }] });
  });

  it('falls back on the raw request and answer', () => {
    const { inputs, output } = translate(
      spanOf({
        attributes: {
          'openinference.span.kind': 'LLM',
          'input.value': '{"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0}',
          'output.value': '{"choices":[{"message":{"role":"assistant","content":"hello"}}]}',
        },
      }),
    );
    expect(inputs).toEqual({ messages: [{ role: 'user', content: 'hi' }], model: 'm', temperature: 0 });
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello' }] });
  });

  it('reads a reranker', () => {
    const { kind, inputs, output } = translate(
      spanOf({
        attributes: {
          'openinference.span.kind': 'RERANKER',
          'reranker.query': 'cats',
          'reranker.input_documents.0.document.content': 'a cat',
          'reranker.output_documents.0.document.content': 'a cat',
          'reranker.output_documents.0.document.score': 0.9,
        },
      }),
    );
    expect([kind, inputs, output]).toEqual([
      'retriever',
      { query: 'cats', documents: [{ content: 'a cat' }] },
      [{ content: 'a cat', score: 0.9 }],
    ]);
  });

  it('counts no tokens of an agent that repeats those of its models', () => {
    const { usage } = translate(
      spanOf({ attributes: { 'openinference.span.kind': 'AGENT', 'llm.token_count.prompt': 9 } }),
    );
    expect(usage).toBeUndefined();
  });

  it('takes the thread from metadata when no session is named', () => {
    expect(
      translate(spanOf({ attributes: { 'input.value': 'x', metadata: '{"thread_id":"t"}' } })).threadId,
    ).toBe('t');
  });

  it('reads a tool call of which the part has nothing but the type', () => {
    const message = 'llm.output_messages.0.message';
    const call = `${message}.contents.1.tool_call`;
    const { output } = translate(
      spanOf({
        attributes: {
          'openinference.span.kind': 'LLM',
          [`${message}.contents.0.message_content.type`]: 'text',
          [`${message}.contents.0.message_content.text`]: 'Let me look.',
          [`${message}.contents.1.message_content.type`]: 'tool_use',
          [`${call}.id`]: 't1',
          [`${call}.function.name`]: 'f',
          [`${call}.function.arguments`]: '{"a":1}',
          [`${message}.tool_calls.0.tool_call.id`]: 't1',
          [`${message}.tool_calls.0.tool_call.function.name`]: 'f',
          [`${message}.tool_calls.0.tool_call.function.arguments`]: '{"a":1}',
        },
      }),
    );
    const tool_calls = [{ id: 't1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }];
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'Let me look.', tool_calls }] });
  });

  it('keeps an image as it is in the part', () => {
    const content = 'llm.input_messages.0.message.contents.0.message_content';
    const { inputs } = translate(
      spanOf({
        attributes: {
          'openinference.span.kind': 'LLM',
          [`${content}.type`]: 'image',
          [`${content}.image.image.url`]: 'https://example.com/cat.png',
        },
      }),
    );
    const image = { type: 'image', image: { image: { url: 'https://example.com/cat.png' } } };
    expect(inputs.messages).toEqual([{ role: 'user', content: [image] }]);
  });

  it('knows agents of llama-index at once, however long the name', () => {
    const named = (name: string) =>
      translate(spanOf({ name, attributes: { 'openinference.span.kind': 'CHAIN' } })).kind;
    const started = performance.now();
    expect(named('Agent'.repeat(40_000))).toBe('other');
    expect(performance.now() - started).toBeLessThan(1000);
    expect([named('MyAgentWorkflow.run'), named('Chain.run'), named('my Agent.run')]).toEqual([
      'agent',
      'other',
      'other',
    ]);
  });

  it('unwraps named arguments of smolagents', () => {
    const input = { args: [], sanitize_inputs_outputs: true, kwargs: { city: 'Paris' } };
    const attributes = { 'openinference.span.kind': 'TOOL', 'input.value': JSON.stringify(input) };
    expect(translate(spanOf({ attributes })).inputs).toEqual({ city: 'Paris' });
  });
});
