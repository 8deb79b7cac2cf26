import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../core/otel/conventions/index.ts';
import { spanOf } from '../../../../support/spans.ts';

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
});
