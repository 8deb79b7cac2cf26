import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../core/otel/conventions/index.ts';
import { spanOf } from '../../../../support/spans.ts';

describe('OpenLLMetry decorators', () => {
  it.each(['session_id', 'thread_id', 'conversation_id', 'chat_id'])('takes the thread from %s', (name) => {
    const attributes = { [`traceloop.association.properties.${name}`]: 'c-1' };
    expect(translate(spanOf({ attributes })).threadId).toBe('c-1');
  });

  it('unwraps arguments that are all named', () => {
    const attributes = {
      'traceloop.span.kind': 'tool',
      'traceloop.entity.input': '{"args":[],"kwargs":{"id":7}}',
      'traceloop.entity.output': '"done"',
    };
    const { kind, inputs, output } = translate(spanOf({ attributes }));
    expect([kind, inputs, output]).toEqual(['tool', { id: 7 }, 'done']);
  });
});
