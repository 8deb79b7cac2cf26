import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('LangSmith', () => {
  it.each(['session_id', 'thread_id', 'conversation_id'])('takes the thread from %s', (name) => {
    expect(translate(spanOf({ attributes: { [`langsmith.metadata.${name}`]: 't' } })).threadId).toBe('t');
  });

  it('reads messages that LangChain serialized', () => {
    const human = {
      lc: 1,
      type: 'constructor',
      id: ['langchain', 'schema', 'HumanMessage'],
      kwargs: { content: 'hi' },
    };
    const ai = {
      lc: 1,
      type: 'constructor',
      id: ['langchain', 'schema', 'AIMessage'],
      kwargs: { content: 'hello' },
    };
    const { inputs, output } = translate(
      spanOf({
        attributes: {
          'langsmith.span.kind': 'llm',
          'gen_ai.prompt': JSON.stringify({ messages: [[human]] }),
          'gen_ai.completion': JSON.stringify({ generations: [[{ text: 'hello', message: ai }]] }),
        },
      }),
    );
    expect(inputs).toEqual({ messages: [{ role: 'user', content: 'hi' }] });
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello' }] });
  });

  it.each([
    ['a refusal', { refusal: 'No.' }, [{ type: 'refusal', refusal: 'No.' }]],
    [
      'reasoning',
      { content: 'Yes.', reasoning_content: 'Hm.' },
      [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Yes.' },
      ],
    ],
  ])('keeps %s that is a field of the answer', (_, said, content) => {
    const choices = [{ finish_reason: 'stop', message: { role: 'assistant', content: null, ...said } }];
    const attributes = { 'langsmith.span.kind': 'llm', 'gen_ai.completion': JSON.stringify({ choices }) };
    expect(translate(spanOf({ attributes })).output).toEqual({
      messages: [{ role: 'assistant', content, finish_reason: 'stop' }],
    });
  });

  it('names the model that the answer names, if the span names none', () => {
    const completion = { model: 'm', usage: { prompt_tokens: 2, completion_tokens: 1 } };
    const attributes = { 'langsmith.span.kind': 'llm', 'gen_ai.completion': JSON.stringify(completion) };
    expect(Object.keys(translate(spanOf({ attributes })).usage ?? {})).toEqual(['m']);
  });
});
