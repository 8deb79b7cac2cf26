import { describe, expect, it } from 'vitest';
import { translate } from '../../../../../../core/doors/otel/conventions/index.ts';
import { makeSpan } from '../../../../../support/otel/spans.ts';

type Given = Parameters<typeof makeSpan>[0];

describe('the name of a tool', () => {
  it.each<[string, Given]>([
    [
      'of OpenTelemetry',
      { attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'seat_map' } },
    ],
    [
      'in the name of the span alone',
      { name: 'execute_tool seat_map', attributes: { 'gen_ai.operation.name': 'execute_tool' } },
    ],
    ['of MCP', { name: 'tools/call seat_map', attributes: { 'mcp.method.name': 'tools/call' } }],
    [
      'of the Python SDK of MCP',
      { name: 'MCP send tools/call seat_map', attributes: { 'mcp.method.name': 'tools/call' } },
    ],
    [
      'of Pydantic AI',
      { name: 'running tool: seat_map', scope: 'pydantic-ai', attributes: { tool_arguments: '{}' } },
    ],
    ['of OpenInference', { attributes: { 'openinference.span.kind': 'TOOL', 'tool.name': 'seat_map' } }],
    [
      'of OpenLLMetry',
      {
        name: 'seat_map.tool',
        attributes: { 'traceloop.span.kind': 'tool', 'traceloop.entity.name': 'seat_map' },
      },
    ],
    ['of Langfuse', { name: 'seat_map', attributes: { 'langfuse.observation.type': 'tool' } }],
    ['of LangSmith', { name: 'seat_map', attributes: { 'langsmith.span.kind': 'tool' } }],
    ['of MLflow', { name: 'seat_map', attributes: { 'mlflow.spanType': '"TOOL"' } }],
    [
      'of Genkit',
      { name: 'seat_map', attributes: { 'genkit:metadata:subtype': 'tool', 'genkit:name': 'seat_map' } },
    ],
    [
      'of the AI SDK',
      {
        name: 'ai.toolCall',
        attributes: { 'ai.operationId': 'ai.toolCall', 'ai.toolCall.name': 'seat_map' },
      },
    ],
    ['of Mastra', { attributes: { 'mastra.span.type': 'tool_call', 'gen_ai.tool.name': 'seat_map' } }],
    [
      "of OpenAI's agents",
      {
        name: 'Function: {name}',
        scope: 'logfire.openai_agents',
        attributes: { 'logfire.msg': 'x', name: 'seat_map' },
      },
    ],
    [
      'of the Agent Development Kit',
      { name: 'execute_tool seat_map', scope: 'gcp.vertex.agent', attributes: {} },
    ],
  ])('%s', (_, given) => {
    const { kind, tool } = translate(makeSpan(given));
    expect([kind, tool]).toEqual(['tool', 'seat_map']);
  });

  it.each<[string, Given]>([
    [
      'as Claude writes it',
      { attributes: { 'openinference.span.kind': 'TOOL', 'tool.name': 'mcp__orders__look_up' } },
    ],
    [
      'as the server says it',
      {
        attributes: {
          'mcp.method.name': 'tools/call',
          'gen_ai.tool.name': 'look_up',
          'fastmcp.server.name': 'orders',
        },
      },
    ],
  ])('has the MCP server before it, %s', (_, given) => {
    expect(translate(makeSpan(given)).tool).toBe('orders.look_up');
  });

  it('is of calls of tools alone', () => {
    expect(
      translate(makeSpan({ attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.tool.name': 'x' } })).tool,
    ).toBeUndefined();
  });
});

describe('an agent', () => {
  it.each<[string, Given, unknown]>([
    [
      'with all that is known of it',
      {
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'baker',
          'gen_ai.agent.id': 'b1',
          'gen_ai.agent.version': '2',
        },
      },
      { name: 'baker', id: 'b1', version: '2' },
    ],
    [
      'that asks a model',
      { attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.agent.name': 'baker' } },
      { name: 'baker' },
    ],
    [
      'of a former Pydantic AI',
      { scope: 'pydantic-ai', attributes: { agent_name: 'baker', all_messages_events: '[]' } },
      { name: 'baker' },
    ],
    [
      'of LangGraph',
      { attributes: { 'openinference.span.kind': 'LLM', metadata: '{"lc_agent_name":"baker"}' } },
      { name: 'baker' },
    ],
    [
      'of CrewAI',
      { name: 'baker._execute_core', attributes: { 'openinference.span.kind': 'AGENT' } },
      { name: 'baker' },
    ],
    [
      'of OpenLLMetry',
      {
        name: 'baker.agent',
        attributes: { 'traceloop.span.kind': 'agent', 'traceloop.entity.name': 'baker' },
      },
      { name: 'baker' },
    ],
    [
      'of Langfuse',
      { name: 'baker', attributes: { 'langfuse.observation.type': 'agent' } },
      { name: 'baker' },
    ],
    [
      'of a former Agent Development Kit',
      { name: 'agent_run [baker]', scope: 'gcp.vertex.agent' },
      { name: 'baker' },
    ],
    [
      'of the AI SDK',
      {
        name: 'ai.generateText',
        attributes: { 'ai.operationId': 'ai.generateText', 'ai.telemetry.functionId': 'baker' },
      },
      { name: 'baker' },
    ],
    [
      "of OpenAI's agents",
      {
        name: 'Agent run: {name!r}',
        scope: 'logfire.openai_agents',
        attributes: { 'logfire.msg': 'x', name: 'baker' },
      },
      { name: 'baker' },
    ],
    [
      'that has the name of any',
      { name: 'LangGraph', attributes: { 'openinference.span.kind': 'AGENT' } },
      undefined,
    ],
    [
      'whose span names the model',
      {
        name: 'invoke_agent gpt',
        attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.request.model': 'gpt' },
      },
      undefined,
    ],
    [
      "that is the workflow of OpenAI's agents",
      {
        name: 'desk',
        scope: 'openinference.instrumentation.openai_agents',
        attributes: { 'openinference.span.kind': 'AGENT' },
      },
      undefined,
    ],
  ])('%s', (_, given, agent) => {
    expect(translate(makeSpan(given)).agent).toEqual(agent);
  });

  it('is shown by its name where the span has the model in its place', () => {
    const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'baker' };
    expect(translate(makeSpan({ name: 'invoke_agent gpt', attributes })).displayName).toBe(
      'invoke_agent baker',
    );
    expect(translate(makeSpan({ name: 'invoke_agent baker', attributes })).displayName).toBeUndefined();
  });

  it("hands over by no tool of the program's", () => {
    const scope = 'openinference.instrumentation.openai_agents';
    const { kind } = translate(
      makeSpan({ name: 'handoff to Seats', scope, attributes: { 'openinference.span.kind': 'TOOL' } }),
    );
    expect(kind).toBe('other');
  });
});

describe('a tool that failed by its text alone', () => {
  const ended = (value: string, more: Record<string, string> = {}) =>
    translate(makeSpan({ attributes: { 'openinference.span.kind': 'TOOL', 'output.value': value, ...more } }))
      .exception;

  it.each([
    ['by the status of its message', '{"type":"tool","data":{"content":"down","status":"error"}}', 'down'],
    ['by a mark of MCP', '{"content":[{"type":"text","text":"down"}],"isError":true}', 'down'],
    ['by its only field', '{"error":"down"}', 'down'],
    [
      'by what LangGraph writes',
      'Error: down\n Please fix your mistakes.',
      'Error: down\n Please fix your mistakes.',
    ],
    [
      "by what OpenAI's agents write",
      'An error occurred while running the tool. Error: down',
      'An error occurred while running the tool. Error: down',
    ],
    ['by what MCP servers write', 'Error executing tool look_up: down', 'Error executing tool look_up: down'],
  ])('%s', (_, value, error) => {
    expect(ended(value)).toBe(error);
  });

  it.each([
    'The log has 3 lines with Error: x',
    '{"error":"none","value":1}',
    '{"error":null}',
    '{"status":"error","count":1}',
    'Errors: 0',
  ])('is not one that answered %s', (value) => {
    expect(ended(value)).toBeUndefined();
  });

  it('has the type of its error, unless the span is fine', () => {
    const attributes = { 'gen_ai.operation.name': 'execute_tool', 'error.type': 'timeout' };
    expect(translate(makeSpan({ attributes })).exception).toBe('timeout');
    const fine = { ...makeSpan({ attributes }), status: { code: 1, message: '' } };
    expect(translate(fine).exception).toBeUndefined();
  });
});

describe('LangChain.js', () => {
  it('has instructions that are blocks', () => {
    const system = {
      lc: 1,
      id: ['langchain_core', 'messages', 'SystemMessage'],
      kwargs: { content: [{ type: 'text', text: 'Be kind.' }] },
    };
    const user = { lc: 1, id: ['langchain_core', 'messages', 'HumanMessage'], kwargs: { content: 'Hi' } };
    const { inputs } = translate(
      makeSpan({
        attributes: {
          'openinference.span.kind': 'LLM',
          'input.value': JSON.stringify({ messages: [[system, user]] }),
          'llm.input_messages.0.message.role': 'system',
          'llm.input_messages.1.message.role': 'user',
          'llm.input_messages.1.message.content': 'Hi',
        },
      }),
    );
    expect(inputs.messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hi' },
    ]);
  });
});
