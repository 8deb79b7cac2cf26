import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('the AI SDK', () => {
  it('reads the names of version 3', () => {
    const { kind, output, usage } = translate(
      spanOf({
        attributes: {
          'ai.operationId': 'ai.generateText.doGenerate',
          'ai.model.id': 'm',
          'ai.result.text': 'hello',
          'ai.result.toolCalls': '[{"toolCallId":"c","toolName":"f","args":{"a":1}}]',
          'ai.usage.promptTokens': 3,
          'ai.usage.completionTokens': 1,
        },
      }),
    );
    expect(kind).toBe('model');
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello', tool_calls: [call] }] });
    expect(usage?.m?.total_tokens).toBe(4);
  });

  it('keeps the object that was generated', () => {
    const attributes = { 'ai.operationId': 'ai.generateObject', 'ai.response.object': '{"a":1}' };
    expect(translate(spanOf({ attributes })).output).toEqual({
      messages: [{ role: 'assistant', content: '{"a":1}' }],
    });
  });

  it('reads one value to embed', () => {
    const attributes = {
      'ai.operationId': 'ai.embed.doEmbed',
      'ai.value': '"rain"',
      'ai.embedding': '[1,2]',
    };
    const { kind, inputs, output } = translate(spanOf({ attributes }));
    expect([kind, inputs, output]).toEqual(['embedding', { input: 'rain' }, { embeddings: [1, 2] }]);
  });
});
