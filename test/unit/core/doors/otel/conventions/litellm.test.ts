import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('litellm', () => {
  it.each([
    ['completion', 'model'],
    ['aresponses', 'model'],
    ['anthropic_messages', 'model'],
    ['embedding', 'embedding'],
    ['arerank', 'retriever'],
  ])('takes its function %s for %s', (operation, kind) => {
    const attributes = { 'gen_ai.operation.name': operation };
    expect(translate(spanOf({ scope: 'litellm', name: 'litellm_request', attributes })).kind).toBe(kind);
  });

  it('reads a tool call that is told apart from the message', () => {
    const { output } = translate(
      spanOf({
        scope: 'litellm',
        attributes: {
          'gen_ai.operation.name': 'acompletion',
          'gen_ai.output.messages': '[{"role":"assistant","parts":[]}]',
          'gen_ai.completion.0.function_call.name': 'f',
          'gen_ai.completion.0.function_call.arguments': '{"a":1}',
        },
      }),
    );
    const call = { type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
    expect(output).toEqual({ messages: [{ role: 'assistant', content: null, tool_calls: [call] }] });
  });
});
