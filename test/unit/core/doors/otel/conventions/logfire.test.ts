import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { makeSpan } from '../../../../../support/otel/spans.ts';

describe('Logfire and Pydantic AI', () => {
  it('reads messages that are events in one attribute', () => {
    const events = [
      { 'event.name': 'gen_ai.system.message', role: 'system', content: 'be brief' },
      { 'event.name': 'gen_ai.user.message', role: 'user', content: 'hi' },
      { 'event.name': 'gen_ai.choice', index: 0, message: { role: 'assistant', content: 'hello' } },
    ];
    const { inputs, output } = translate(
      makeSpan({
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
    const agent = makeSpan({
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
    const tool = makeSpan({
      scope: 'pydantic-ai',
      attributes: { tool_arguments: '{"a":1}', tool_response: 'ok' },
    });
    expect(translate(tool)).toMatchObject({ kind: 'tool', inputs: { a: 1 }, output: 'ok' });
  });

  it('reads request and response of a wrapped SDK', () => {
    const { kind, inputs, output, usage } = translate(
      makeSpan({
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
      makeSpan({
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

  it('calls a span by its message, and not by its template', () => {
    const named = (message: string) =>
      translate(makeSpan({ name: 'Function: {name}', attributes: { 'logfire.msg': message } })).displayName;
    expect(named('Function: get_weather')).toBe('Function: get_weather');
    expect(named('Function: {name}')).toBeUndefined();
  });

  it.each([
    [
      'gen_ai.usage.raw',
      { prompt_tokens: 2000, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 1536 } },
    ],
    [
      'gen_ai.usage.raw',
      {
        input_tokens: 400,
        output_tokens: 10,
        cache_read_input_tokens: 1536,
        cache_creation_input_tokens: 64,
      },
    ],
    ['usage', { input_tokens: 2000, output_tokens: 10, input_tokens_details: { cached_tokens: 1536 } }],
    [
      'response',
      { usage: { input_tokens: 2000, output_tokens: 10, input_tokens_details: { cached_tokens: 1536 } } },
    ],
  ])('finds cached tokens in %s', (key, value) => {
    const { usage } = translate(
      makeSpan({
        scope: 'logfire.openai_agents',
        name: 'Responses API',
        attributes: {
          'logfire.span_type': 'span',
          'gen_ai.response.model': 'm',
          'gen_ai.usage.input_tokens': 2000,
          'gen_ai.usage.output_tokens': 10,
          [key]: JSON.stringify(value),
        },
      }),
    );
    expect(usage?.m).toMatchObject({
      input_tokens: 2000,
      output_tokens: 10,
      total_tokens: 2010,
      cache_read_input_tokens: 1536,
      input_tokens_details: { cached_tokens: 1536 },
    });
  });

  it('prefers a session to a conversation that was made up', () => {
    const attributes = { 'gen_ai.conversation.id': 'made-up', 'session.id': 's' };
    expect(translate(makeSpan({ scope: 'pydantic-ai', attributes })).threadId).toBe('s');
  });

  it('takes no scrubbed text for an id', () => {
    expect(
      translate(makeSpan({ attributes: { session_id: "[Scrubbed due to 'session']" } })).threadId,
    ).toBeUndefined();
  });
});

const agents = (name: string, attributes: Record<string, string>) =>
  translate(
    makeSpan({
      scope: 'logfire.openai_agents',
      name,
      attributes: { 'logfire.span_type': 'span', 'gen_ai.system': 'openai', ...attributes },
    }),
  );

describe("OpenAI's agents through Logfire", () => {
  it('are agents and tools, with arguments and result', () => {
    expect(agents('Agent run: {name!r}', { name: 'helper', tools: '["f"]' }).kind).toBe('agent');
    expect(agents('Function: {name}', { name: 'f', input: '{"a":1}', output: 'sunny' })).toMatchObject({
      kind: 'tool',
      inputs: { a: 1 },
      output: 'sunny',
    });
    expect(agents('Handoff: {from_agent} → {to_agent}', {}).kind).toBe('other');
  });

  it('have the answer of the Responses API apart from what came before', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const events = [
      { 'event.name': 'gen_ai.system.message', role: 'system', content: 'be brief' },
      { 'event.name': 'gen_ai.user.message', role: 'user', content: 'hi' },
      { 'event.name': 'gen_ai.assistant.message', role: 'assistant', tool_calls: [call] },
      { 'event.name': 'gen_ai.tool.message', role: 'tool', id: 'c', content: 'sunny', name: 'f' },
      { 'event.name': 'gen_ai.assistant.message', role: 'assistant', content: 'It is sunny.' },
    ];
    const { kind, inputs, output } = agents('Responses API with {gen_ai.request.model!r}', {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      events: JSON.stringify(events),
    });
    expect(kind).toBe('model');
    expect(inputs).toEqual({
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', content: 'sunny', tool_call_id: 'c', name: 'f' },
      ],
      model: 'm',
    });
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'It is sunny.' }] });
  });

  it('have the answer of chat completions apart from what came before', () => {
    const asked = { role: 'user', content: 'hi' };
    const answer = { role: 'assistant', content: 'hello' };
    const { inputs, output, usage } = agents('Chat completion with {gen_ai.request.model!r}', {
      'gen_ai.request.model': 'm',
      input: JSON.stringify([asked]),
      output: JSON.stringify([answer]),
      request_data: JSON.stringify({ messages: [asked, answer], model: 'm' }),
      usage: '{"input_tokens":9,"output_tokens":3}',
    });
    expect(inputs).toEqual({ messages: [asked], model: 'm' });
    expect(output).toEqual({ messages: [answer] });
    expect(usage?.m).toMatchObject({ input_tokens: 9, output_tokens: 3 });
  });

  it('have the group of a trace as their thread, if there is one', () => {
    expect(agents('OpenAI Agents trace: {name}', { group_id: 'chat-1' }).threadId).toBe('chat-1');
    expect(agents('OpenAI Agents trace: {name}', { group_id: 'null' }).threadId).toBeUndefined();
  });

  it('say what failed', () => {
    const error =
      '{"message":"Error running tool (non-fatal)","data":{"tool_name":"f","error":"no such city"}}';
    expect(agents('Function: {name}', { error }).exception).toBe(
      'Error running tool (non-fatal): no such city',
    );
  });
});
