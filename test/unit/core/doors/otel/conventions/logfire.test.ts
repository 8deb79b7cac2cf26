import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { spanOf } from '../../../../../support/spans.ts';

describe('Logfire and Pydantic AI', () => {
  it('reads messages that are events in one attribute', () => {
    const events = [
      { 'event.name': 'gen_ai.system.message', role: 'system', content: 'be brief' },
      { 'event.name': 'gen_ai.user.message', role: 'user', content: 'hi' },
      { 'event.name': 'gen_ai.choice', index: 0, message: { role: 'assistant', content: 'hello' } },
    ];
    const { inputs, output } = translate(
      spanOf({
        scope: 'pydantic-ai',
        attributes: { 'gen_ai.operation.name': 'chat', events: JSON.stringify(events) },
      }),
    );
    expect(inputs.messages).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hi' },
    ]);
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello' }] });
  });

  it('reads agents and tools of versions that name no operation', () => {
    const agent = spanOf({
      scope: 'pydantic-ai',
      attributes: {
        agent_name: 'a',
        final_result: 'hello',
        all_messages_events: '[{"event.name":"gen_ai.user.message","role":"user","content":"hi"}]',
      },
    });
    expect(translate(agent)).toMatchObject({
      kind: 'agent',
      inputs: { messages: [{ role: 'user', content: 'hi' }] },
      output: 'hello',
    });
    const tool = spanOf({
      scope: 'pydantic-ai',
      attributes: { tool_arguments: '{"a":1}', tool_response: 'ok' },
    });
    expect(translate(tool)).toMatchObject({ kind: 'tool', inputs: { a: 1 }, output: 'ok' });
  });

  it('reads request and response of a wrapped SDK', () => {
    const { kind, inputs, output, usage } = translate(
      spanOf({
        scope: 'logfire.openai',
        attributes: {
          'logfire.span_type': 'span',
          'gen_ai.request.model': 'm',
          request_data: '{"model":"m","messages":[{"role":"user","content":"hi"}]}',
          response_data:
            '{"message":{"role":"assistant","content":"hello"},"usage":{"prompt_tokens":2,"completion_tokens":1}}',
        },
      }),
    );
    expect([kind, usage?.m?.total_tokens]).toEqual(['model', 3]);
    expect(inputs).toEqual({ messages: [{ role: 'user', content: 'hi' }], model: 'm' });
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello' }] });
  });

  it('takes messages from elsewhere if the request has none', () => {
    const { inputs } = translate(
      spanOf({
        scope: 'logfire.openai',
        attributes: {
          'logfire.span_type': 'span',
          'gen_ai.operation.name': 'chat',
          'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
          request_data: '{"model":"m","temperature":0.5}',
        },
      }),
    );
    expect(inputs).toEqual({ messages: [{ role: 'user', content: 'hi' }], model: 'm', temperature: 0.5 });
  });

  it('prefers a session to a conversation that was made up', () => {
    const attributes = { 'gen_ai.conversation.id': 'made-up', 'session.id': 's' };
    expect(translate(spanOf({ scope: 'pydantic-ai', attributes })).threadId).toBe('s');
  });

  it('takes no scrubbed text for an id', () => {
    expect(
      translate(spanOf({ attributes: { session_id: "[Scrubbed due to 'session']" } })).threadId,
    ).toBeUndefined();
  });
});
