import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

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

  it("unwraps a tool's arguments and result from those of LangChain's callback", () => {
    const message = {
      lc: 1,
      type: 'constructor',
      id: ['langchain', 'schema', 'messages', 'ToolMessage'],
      kwargs: { content: 'sunny', tool_call_id: 'c1' },
    };
    const attributes = {
      'traceloop.span.kind': 'tool',
      'traceloop.entity.input': JSON.stringify({
        input_str: "{'city': 'Paris'}",
        tags: [],
        metadata: {},
        inputs: { city: 'Paris' },
        kwargs: { color: 'green' },
      }),
      'traceloop.entity.output': JSON.stringify({ output: message, kwargs: { color: 'green' } }),
    };
    const { inputs, output } = translate(spanOf({ attributes }));
    expect([inputs, output]).toEqual([{ city: 'Paris' }, 'sunny']);
  });

  it('keeps a result that only looks wrapped', () => {
    const result = { output: 'x', kwargs: 'y' };
    const attributes = { 'traceloop.entity.output': JSON.stringify(result) };
    expect(translate(spanOf({ attributes })).output).toEqual(result);
  });
});
