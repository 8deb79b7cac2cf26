import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { makeSpan } from '../../../../../support/otel/spans.ts';

const scope = 'gcp.vertex.agent';

describe('the Agent Development Kit', () => {
  it('counts thoughts as part of the answer', () => {
    const usage_metadata = {
      prompt_token_count: 5,
      candidates_token_count: 2,
      thoughts_token_count: 3,
      total_token_count: 10,
    };
    const { usage } = translate(
      makeSpan({
        scope,
        name: 'call_llm',
        attributes: {
          'gcp.vertex.agent.llm_response': JSON.stringify({ model_version: 'm', usage_metadata }),
        },
      }),
    );
    expect(usage).toEqual({
      m: {
        requests: 1,
        input_tokens: 5,
        output_tokens: 5,
        total_tokens: 10,
        output_tokens_details: { reasoning_tokens: 3 },
      },
    });
  });

  it.each([
    ['the request by the second schema', 'gen_ai.provider.name', 'model', 5],
    ['a repeat of `call_llm` by the first', 'gen_ai.system', 'other', undefined],
  ])('takes `generate_content` for %s', (_, provider, kind, tokens) => {
    const attributes = {
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.request.model': 'm',
      [provider]: 'gemini',
      'gen_ai.usage.input_tokens': 5,
    };
    const read = translate(makeSpan({ scope, name: 'generate_content m', attributes }));
    expect([read.kind, read.usage?.m?.input_tokens]).toEqual([kind, tokens]);
  });

  it('says nothing of a tool that was not told of', () => {
    const attributes = {
      'gcp.vertex.agent.tool_call_args': 'N/A',
      'gcp.vertex.agent.tool_response': '{"result":"<not specified>"}',
    };
    const { kind, inputs, output } = translate(makeSpan({ scope, name: 'execute_tool x', attributes }));
    expect([kind, inputs, output]).toEqual(['tool', {}, null]);
  });

  it('knows agents by the names of earlier versions', () => {
    expect(translate(makeSpan({ scope, name: 'agent_run [helper]' })).kind).toBe('agent');
  });
});

describe('the AI SDK', () => {
  it('names the call of a tool after the tool, up to version 6', () => {
    const attributes = { 'ai.operationId': 'ai.toolCall', 'ai.toolCall.name': 'get_weather' };
    expect(translate(makeSpan({ name: 'ai.toolCall', attributes })).displayName).toBe('get_weather');
  });

  it('reads the names of version 3', () => {
    const { kind, output, usage } = translate(
      makeSpan({
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
    expect(translate(makeSpan({ attributes })).output).toEqual({
      messages: [{ role: 'assistant', content: '{"a":1}' }],
    });
  });

  it('reads one value to embed', () => {
    const attributes = {
      'ai.operationId': 'ai.embed.doEmbed',
      'ai.value': '"rain"',
      'ai.embedding': '[1,2]',
    };
    const { kind, inputs, output } = translate(makeSpan({ attributes }));
    expect([kind, inputs, output]).toEqual(['embedding', { input: 'rain' }, { embeddings: [1, 2] }]);
  });
});

const translateUsage = (scope: string, usage: Readonly<Record<string, number>>) =>
  translate(
    makeSpan({
      scope,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'm',
        ...Object.fromEntries(Object.entries(usage).map(([name, count]) => [`gen_ai.usage.${name}`, count])),
      },
    }),
  ).usage?.m;

const botocore = 'opentelemetry.instrumentation.botocore.bedrock-runtime';

describe('Amazon Bedrock', () => {
  it.each([botocore, 'opentelemetry.instrumentation.bedrock'])('adds cached tokens of %s', (scope) => {
    const usage = translateUsage(scope, {
      input_tokens: 200,
      output_tokens: 12,
      total_tokens: 212,
      'cache_read.input_tokens': 100,
    });
    expect(usage).toEqual({
      requests: 1,
      input_tokens: 300,
      output_tokens: 12,
      total_tokens: 312,
      cache_read_input_tokens: 100,
      input_tokens_details: { cached_tokens: 100 },
    });
  });

  it('counts a prompt that was cached as a whole', () => {
    expect(
      translateUsage(botocore, { output_tokens: 12, 'cache_read.input_tokens': 100 })?.input_tokens,
    ).toBe(100);
  });

  it('leaves the tokens of other instrumentations as they are', () => {
    const usage = translateUsage('x', {
      input_tokens: 200,
      output_tokens: 12,
      'cache_read.input_tokens': 100,
    });
    expect(usage?.input_tokens).toBe(200);
  });

  it('adds cached tokens wherever the total does', () => {
    const counts = { input_tokens: 200, output_tokens: 12, 'cache_read.input_tokens': 100 };
    expect(translateUsage('x', { ...counts, total_tokens: 312 })?.input_tokens).toBe(300);
    expect(translateUsage('x', { ...counts, total_tokens: 212 })?.input_tokens).toBe(200);
  });
});

describe('Genkit', () => {
  it.each([
    ['embedder', 'embedding'],
    ['retriever', 'retriever'],
    ['tool.v2', 'tool'],
    ['flow', 'other'],
  ])('takes the action %s for %s', (subtype, kind) => {
    expect(translate(makeSpan({ attributes: { 'genkit:metadata:subtype': subtype } })).kind).toBe(kind);
  });

  it('reads media beside text', () => {
    const message = {
      role: 'user',
      content: [{ text: 'what?' }, { media: { url: 'https://example.com/a.png' } }],
    };
    const attributes = {
      'genkit:metadata:subtype': 'model',
      'genkit:name': 'm',
      'genkit:input': JSON.stringify({ messages: [message], config: { temperature: 1 } }),
    };
    expect(translate(makeSpan({ attributes })).inputs).toEqual({
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'what?' }, { media: { url: 'https://example.com/a.png' } }],
        },
      ],
      temperature: 1,
      model: 'm',
    });
  });
});

const generation = { 'langfuse.observation.type': 'generation', 'langfuse.observation.model.name': 'm' };
const langfuseUsage = (details: object) =>
  translate(
    makeSpan({
      attributes: { ...generation, 'langfuse.observation.usage_details': JSON.stringify(details) },
    }),
  ).usage?.m;

describe('Langfuse', () => {
  it('adds kinds of tokens that are counted apart', () => {
    expect(
      langfuseUsage({ input: 14, input_cached_tokens: 16, output: 5, output_reasoning_tokens: 7, total: 42 }),
    ).toMatchObject({ input_tokens: 30, output_tokens: 12, total_tokens: 42, cache_read_input_tokens: 16 });
  });

  it('adds no kinds that the total shows to be details', () => {
    expect(langfuseUsage({ input: 30, input_cached_tokens: 16, output: 12, total: 42 })).toMatchObject({
      input_tokens: 30,
      output_tokens: 12,
    });
  });

  it('has cached tokens in the details of a provider’s own usage', () => {
    expect(
      langfuseUsage({
        prompt_tokens: 2000,
        completion_tokens: 10,
        total_tokens: 2010,
        prompt_tokens_details: { cached_tokens: 1536, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 4 },
      }),
    ).toMatchObject({
      input_tokens: 2000,
      output_tokens: 10,
      total_tokens: 2010,
      cache_read_input_tokens: 1536,
      output_tokens_details: { reasoning_tokens: 4 },
    });
  });

  it('reads counts by the names of OpenAI', () => {
    expect(langfuseUsage({ prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 })).toMatchObject({
      input_tokens: 30,
      output_tokens: 12,
      total_tokens: 42,
    });
  });

  it('takes a span with a model for a generation', () => {
    expect(
      translate(makeSpan({ attributes: { ...generation, 'langfuse.observation.type': 'span' } })).kind,
    ).toBe('model');
  });

  it('has an error where its level says so, and only there', () => {
    const statusMessage = 'langfuse.observation.status_message';
    const level = 'langfuse.observation.level';
    expect(translate(makeSpan({ attributes: { [level]: 'ERROR', [statusMessage]: 'no' } })).exception).toBe(
      'no',
    );
    expect(
      translate(makeSpan({ attributes: { [level]: 'WARNING', [statusMessage]: 'no' } })).exception,
    ).toBeUndefined();
  });
});

describe('LangSmith', () => {
  it.each(['session_id', 'thread_id', 'conversation_id'])('takes the thread from %s', (name) => {
    expect(translate(makeSpan({ attributes: { [`langsmith.metadata.${name}`]: 't' } })).threadId).toBe('t');
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
      makeSpan({
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
  ])('keeps %s that is a field of the answer', (_, field, content) => {
    const choices = [{ finish_reason: 'stop', message: { role: 'assistant', content: null, ...field } }];
    const attributes = { 'langsmith.span.kind': 'llm', 'gen_ai.completion': JSON.stringify({ choices }) };
    expect(translate(makeSpan({ attributes })).output).toEqual({
      messages: [{ role: 'assistant', content, finish_reason: 'stop' }],
    });
  });

  it('names the model that the answer names, if the span names none', () => {
    const completion = { model: 'm', usage: { prompt_tokens: 2, completion_tokens: 1 } };
    const attributes = { 'langsmith.span.kind': 'llm', 'gen_ai.completion': JSON.stringify(completion) };
    expect(Object.keys(translate(makeSpan({ attributes })).usage ?? {})).toEqual(['m']);
  });
});

describe('litellm', () => {
  it.each([
    ['completion', 'model'],
    ['aresponses', 'model'],
    ['anthropic_messages', 'model'],
    ['embedding', 'embedding'],
    ['arerank', 'retriever'],
  ])('takes its function %s for %s', (operation, kind) => {
    const attributes = { 'gen_ai.operation.name': operation };
    expect(translate(makeSpan({ scope: 'litellm', name: 'litellm_request', attributes })).kind).toBe(kind);
  });

  it('reads a tool call that is told apart from the message', () => {
    const { output } = translate(
      makeSpan({
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

describe('Mastra', () => {
  it('takes a generation for the request where there are no inferences', () => {
    const attributes = {
      'mastra.span.type': 'model_generation',
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 3,
    };
    const { kind, usage } = translate(makeSpan({ attributes }));
    expect([kind, usage?.m?.input_tokens]).toEqual(['model', 3]);
  });

  it.each([
    ['mcp_tool_call', 'tool'],
    ['workflow_run', 'workflow'],
    ['model_chunk', 'other'],
  ])('takes %s for %s', (type, kind) => {
    expect(translate(makeSpan({ attributes: { 'mastra.span.type': type } })).kind).toBe(kind);
  });
});

describe('MLflow', () => {
  it('reads values that are all JSON text', () => {
    const { kind, inputs, output, threadId, userId } = translate(
      makeSpan({
        attributes: {
          'mlflow.spanType': '"LLM"',
          'mlflow.spanInputs': '{"messages":[{"role":"user","content":"hi"}]}',
          'mlflow.spanOutputs': '"hello"',
          'mlflow.llm.model': '"m"',
          'mlflow.trace.session': '"s"',
          'mlflow.trace.user': '"u"',
        },
      }),
    );
    expect([kind, threadId, userId]).toEqual(['model', 's', 'u']);
    expect(inputs).toEqual({ messages: [{ role: 'user', content: 'hi' }], model: 'm' });
    expect(output).toEqual({ messages: [{ role: 'assistant', content: 'hello' }] });
  });
});

describe('OpenLLMetry decorators', () => {
  it.each(['session_id', 'thread_id', 'conversation_id', 'chat_id'])('takes the thread from %s', (name) => {
    const attributes = { [`traceloop.association.properties.${name}`]: 'c-1' };
    expect(translate(makeSpan({ attributes })).threadId).toBe('c-1');
  });

  it('unwraps arguments that are all named', () => {
    const attributes = {
      'traceloop.span.kind': 'tool',
      'traceloop.entity.input': '{"args":[],"kwargs":{"id":7}}',
      'traceloop.entity.output': '"done"',
    };
    const { kind, inputs, output } = translate(makeSpan({ attributes }));
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
    const { inputs, output } = translate(makeSpan({ attributes }));
    expect([inputs, output]).toEqual([{ city: 'Paris' }, 'sunny']);
  });

  it('keeps a result that only looks wrapped', () => {
    const result = { output: 'x', kwargs: 'y' };
    const attributes = { 'traceloop.entity.output': JSON.stringify(result) };
    expect(translate(makeSpan({ attributes })).output).toEqual(result);
  });
});

describe('Haystack', () => {
  const run = (type: string, input: object, output: object) =>
    translate(
      makeSpan({
        name: 'haystack.component.run',
        attributes: {
          'haystack.component.name': 'it',
          'haystack.component.type': type,
          'haystack.component.input': JSON.stringify(input),
          'haystack.component.output': JSON.stringify(output),
        },
      }),
    );
  const call = { tool_name: 'weather', arguments: { city: 'Graz' }, id: 'c' };

  it('has requests with their messages, tools and tokens', () => {
    const { kind, inputs, output, usage } = run(
      'OpenAIChatGenerator',
      {
        messages: [
          { role: 'user', content: [{ text: 'hi' }], name: null, meta: {} },
          { role: 'assistant', content: [{ tool_call: call }], name: null, meta: {} },
          { role: 'tool', content: [{ tool_call_result: { result: '27', origin: call, error: false } }] },
        ],
        generation_kwargs: { temperature: 0 },
      },
      {
        replies: [
          {
            role: 'assistant',
            content: [{ text: 'Warm.' }],
            name: null,
            meta: { model: 'm', usage: { prompt_tokens: 9, completion_tokens: 3 }, finish_reason: 'stop' },
          },
        ],
      },
    );
    const tool_calls = [
      { id: 'c', type: 'function', function: { name: 'weather', arguments: '{"city":"Graz"}' } },
    ];
    expect(kind).toBe('model');
    expect(inputs).toEqual({
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, tool_calls },
        { role: 'tool', content: '27', tool_call_id: 'c', name: 'weather' },
      ],
      temperature: 0,
      model: 'm',
    });
    expect(output).toMatchObject({ messages: [{ role: 'assistant', content: 'Warm.' }] });
    expect(usage?.m).toMatchObject({ input_tokens: 9, output_tokens: 3 });
  });

  it('has prompts, and components of other kinds', () => {
    const asked = run(
      'haystack.components.generators.openai.OpenAIGenerator',
      { prompt: 'hi' },
      { replies: ['hello'] },
    );
    expect([asked.inputs, asked.output]).toEqual([
      { messages: [{ role: 'user', content: 'hi' }] },
      { messages: [{ role: 'assistant', content: 'hello' }] },
    ]);
    expect(run('InMemoryBM25Retriever', { query: 'returns' }, { documents: [] })).toMatchObject({
      kind: 'retriever',
      inputs: { query: 'returns' },
      output: { documents: [] },
    });
    expect(run('PromptBuilder', {}, {}).kind).toBe('other');
  });
});

describe('the prompt of a span', () => {
  const linked = [
    { name: 'first', version: '1' },
    { name: 'support', version: '3' },
  ];
  it.each([
    ['our clients', { 'pennytrace.prompt.name': 'support', 'pennytrace.prompt.version': '3' }],
    ['Langfuse', { 'langfuse.observation.prompt.name': 'support', 'langfuse.observation.prompt.version': 3 }],
    ['OpenTelemetry', { 'gen_ai.prompt.name': 'support', 'gen_ai.prompt.version': '3' }],
    ['OpenInference', { 'llm.prompt_template.name': 'support', 'llm.prompt_template.version': '3' }],
    ['MLflow', { 'mlflow.linkedPrompts': JSON.stringify(JSON.stringify(linked)) }],
    ['MLflow, as the list itself', { 'mlflow.linkedPrompts': JSON.stringify(linked) }],
  ])('is named as by %s', (_, attributes) => {
    expect(translate(makeSpan({ attributes })).prompt).toEqual({ name: 'support', version: '3' });
  });

  it('is what our clients say, whatever an instrumentation says', () => {
    const attributes = {
      'openinference.span.kind': 'LLM',
      'llm.prompt_template.name': 'template',
      'pennytrace.prompt.name': 'support',
    };
    expect(translate(makeSpan({ attributes })).prompt).toEqual({ name: 'support' });
  });

  it.each(['"none"', '[]', '[1]', '{"name":"x"}', '[{"name":1}]', '[{"version":"1"}]'])(
    'is none where MLflow links %s',
    (text) => {
      expect(translate(makeSpan({ attributes: { 'mlflow.linkedPrompts': text } })).prompt).toBeUndefined();
    },
  );
});
