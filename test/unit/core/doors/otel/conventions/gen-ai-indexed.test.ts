import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('flattened prompts and completions', () => {
  it('orders messages by their index, whatever the order of attributes', () => {
    const { inputs, kind } = translate(
      spanOf({
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
      spanOf({
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
      spanOf({
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
