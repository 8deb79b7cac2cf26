import { describe, expect, it } from 'vitest';
import { translate, withAgents } from '../../../../../../core/doors/otel/conventions/index.ts';
import { makeSpan } from '../../../../../support/otel/spans.ts';

describe('OpenInference', () => {
  it('reads parts of messages, and prompts and choices of completions', () => {
    const { inputs, output } = translate(
      makeSpan({
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
      makeSpan({
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
      makeSpan({
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
      makeSpan({ attributes: { 'openinference.span.kind': 'AGENT', 'llm.token_count.prompt': 9 } }),
    );
    expect(usage).toBeUndefined();
  });

  it('takes the thread from metadata when no session is named', () => {
    expect(
      translate(makeSpan({ attributes: { 'input.value': 'x', metadata: '{"thread_id":"t"}' } })).threadId,
    ).toBe('t');
  });

  it('reads a tool call of which the part has nothing but the type', () => {
    const message = 'llm.output_messages.0.message';
    const call = `${message}.contents.1.tool_call`;
    const { output } = translate(
      makeSpan({
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
      makeSpan({
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
      translate(makeSpan({ name, attributes: { 'openinference.span.kind': 'CHAIN' } })).kind;
    // To look anew from each letter would take minutes.
    expect(named('Agent'.repeat(400_000))).toBe('other');
    expect([named('MyAgentWorkflow.run'), named('Chain.run'), named('my Agent.run')]).toEqual([
      'agent',
      'other',
      'other',
    ]);
  });

  it('unwraps named arguments of smolagents', () => {
    const input = { args: [], sanitize_inputs_outputs: true, kwargs: { city: 'Paris' } };
    const attributes = { 'openinference.span.kind': 'TOOL', 'input.value': JSON.stringify(input) };
    expect(translate(makeSpan({ attributes })).inputs).toEqual({ city: 'Paris' });
  });

  it('reads a streamed answer that is a whole response', () => {
    const response = {
      id: 'resp_1',
      object: 'response',
      model: 'm',
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hello' }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      ],
      usage: { input_tokens: 9, output_tokens: 3, input_tokens_details: { cached_tokens: 4 } },
    };
    const { output, usage } = translate(
      makeSpan({
        attributes: {
          'openinference.span.kind': 'LLM',
          'llm.model_name': 'm',
          'llm.token_count.prompt': 9,
          'llm.token_count.completion': 3,
          'output.value': JSON.stringify([response]),
        },
      }),
    );
    expect(output).toEqual({
      messages: [
        { role: 'assistant', content: 'hello' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ],
    });
    expect(usage?.m).toMatchObject({ input_tokens: 9, output_tokens: 3, cache_read_input_tokens: 4 });
  });

  it('reads messages of Haystack’s generators whole, of which the flattened ones have texts alone', () => {
    const call = `ToolCall(tool_name='weather', arguments={'city': 'Graz', 'days': 2, 'warm': True}, id='c', extra=None)`;
    const messages = [
      `ChatMessage(_role=<ChatRole.SYSTEM: 'system'>, _content=[TextContent(text='Be brief.')], _name=None, _meta={})`,
      `ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text="What's up\\nin Gr\\xe4z?")], _name=None, _meta={})`,
      `ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[${call}], _name=None, _meta={'index': 0})`,
      `ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[ToolCallResult(result='27 degrees', origin=${call}, error=False)], _name=None, _meta={})`,
    ];
    const usage = `{'prompt_tokens': 9, 'completion_tokens': 3, 'prompt_tokens_details': {'cached_tokens': 4, 'audio_tokens': None}}`;
    const reply = `ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[TextContent(text='Warm.'), ${call}], _name=None, _meta={'model': 'm', 'finish_reason': 'tool_calls', 'usage': ${usage}})`;
    const translated = translate(
      makeSpan({
        attributes: {
          'openinference.span.kind': 'LLM',
          'llm.model_name': 'm',
          'llm.input_messages.0.message.role': 'system',
          'llm.input_messages.0.message.content': 'Be brief.',
          'llm.input_messages.1.message.role': 'user',
          'llm.input_messages.2.message.role': 'assistant',
          'llm.token_count.prompt': 9,
          'llm.token_count.completion': 3,
          'input.value': JSON.stringify({ messages }),
          'output.value': JSON.stringify({ replies: [reply] }),
        },
      }),
    );
    const tool_calls = [
      {
        id: 'c',
        type: 'function',
        function: { name: 'weather', arguments: '{"city":"Graz","days":2,"warm":true}' },
      },
    ];
    expect(translated.inputs.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: "What's up\nin Gräz?" },
      { role: 'assistant', content: null, tool_calls },
      { role: 'tool', content: '27 degrees', tool_call_id: 'c', name: 'weather' },
    ]);
    expect(translated.output).toEqual({
      messages: [{ role: 'assistant', content: 'Warm.', tool_calls, finish_reason: 'tool_calls' }],
    });
    expect(translated.usage?.m).toMatchObject({ input_tokens: 9, cache_read_input_tokens: 4 });
  });

  it('calls LangChain.js’s runs of agents by their steps, or by their name', () => {
    const chain = (name: string, metadata: object, ids: { spanId: string; parentSpanId?: string }) => {
      const attributes = { 'openinference.span.kind': 'CHAIN', metadata: JSON.stringify(metadata) };
      const span = makeSpan({ name, attributes, ...ids });
      return { span, translation: translate(span) };
    };
    const kinds = withAgents([
      chain('model_request', { langgraph_node: 'model_request' }, { spanId: 'b', parentSpanId: 'a' }),
      chain('weather run', {}, { spanId: 'a' }),
      chain('model', {}, { spanId: 'd', parentSpanId: 'c' }),
      chain('plain chain', {}, { spanId: 'c' }),
      chain('AgentExecutor', {}, { spanId: 'e' }),
    ]).map(({ translation: { kind } }) => kind);
    expect(kinds).toEqual(['other', 'agent', 'other', 'other', 'agent']);
  });
});
