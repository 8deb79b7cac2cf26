import { describe, expect, it } from 'vitest';
import { operationsOfClaudeCode } from '../../../../../../core/doors/otel/agents/claude-code/index.ts';
import { inOrder } from '../../../../../../core/doors/otel/agents/facts.ts';
import type { JsonObject } from '../../../../../../foundations/wire/index.ts';

const trace = '0000000000000000000000000000000a';
const scope = { name: 'com.anthropic.claude_code.events', version: '2.1.330' };
const second = 1_000_000;

const record = (event: string, at: number, attributes: JsonObject, fields: JsonObject = {}): JsonObject => ({
  event: `claude_code.${event}`,
  time: at * second,
  scope,
  resource: {},
  attributes: { 'session.id': 's', 'prompt.id': 'p', ...attributes },
  ...fields,
});

const span = (
  name: string,
  [id, parent]: readonly [string, string?],
  [from, to]: readonly [number, number],
  attributes: JsonObject,
): JsonObject => ({
  name: `claude_code.${name}`,
  start: from * second,
  time: to * second,
  scope,
  resource: {},
  trace,
  span: id,
  ...(parent && { parent }),
  attributes: { 'session.id': 's', ...attributes },
});

const operations = (...facts: JsonObject[]) => operationsOfClaudeCode(inOrder(facts));

it('many prompts without ids are read in passing', () => {
  const facts = Array.from({ length: 3000 }, (_, at) =>
    record('user_prompt', at, { prompt: `${at}`, 'prompt.id': null }),
  );
  // Looking at all of them for each of them, for each of them, takes minutes.
  expect(operations(...facts)).toHaveLength(3000);
});

describe('an MCP tool', () => {
  it.each([
    [
      'tool_parameters',
      { tool_name: 'mcp_tool', tool_parameters: '{"mcp_server_name":"o","mcp_tool_name":"look_up"}' },
    ],
    ['its whole name', { tool_name: 'mcp__o__look_up' }],
  ])('has the name of its server and its own by %s', (_, attributes) => {
    const [tool] = operations(record('tool_result', 2, { tool_use_id: 't', ...attributes }));
    expect(tool).toMatchObject({ kind: 'tool', name: 'o.look_up', tool: 'o.look_up' });
    expect(tool?.inputs ?? {}).toEqual({});
  });

  it('has it by its span', () => {
    const attributes = { tool_use_id: 't', 'gen_ai.tool.name': 'look_up', 'anthropic.mcp.server.name': 'o' };
    expect(operations(span('tool', ['b', 'a'], [1, 2], attributes))).toMatchObject([{ tool: 'o.look_up' }]);
  });
});

it('a tool whose record has no input has what its parameters say as arguments', () => {
  const attributes = { tool_use_id: 't', tool_name: 'Bash', tool_parameters: '{"bash_command":"ls"}' };
  expect(operations(record('tool_result', 2, attributes))[0]?.inputs).toEqual({ bash_command: 'ls' });
});

describe('what a tool gave', () => {
  const ran = (tool: string, told: JsonObject) => ({
    ...span('tool', ['b', 'a'], [1, 2], { tool_use_id: 't', tool_name: tool }),
    events: [{ name: 'tool.output', time: 2 * second, attributes: told }],
  });
  const hunk = (lines: string[]) => ({
    oldStart: 3,
    oldLines: 1,
    newStart: 3,
    newLines: lines.length - 1,
    lines,
  });
  const diff = JSON.stringify([hunk(['-Aldeburgh,85', '+Aldeburgh,25']), hunk(['-a', '+b', '+c'])]);
  const patch = '@@ -3,1 +3,1 @@\n-Aldeburgh,85\n+Aldeburgh,25\n@@ -3,1 +3,2 @@\n-a\n+b\n+c';

  it.each([
    ['Bash', { bash_command: 'ls', output: 'offsets.csv' }, 'offsets.csv'],
    ['Bash', { bash_command: 'true', output: '' }, ''],
    ['Read', { file_path: 'a.json', content: '{"a":1}' }, '{"a":1}'],
    ['Edit', { file_path: 'offsets.csv', diff }, patch],
    ['Edit', { file_path: 'offsets.csv', diff: '[{"oldStart":1 [TRUNCATED]' }, '[{"oldStart":1 [TRUNCATED]'],
    [
      'Edit',
      { file_path: 'offsets.csv', diff: '[{"lines":"of another form"}]' },
      [{ lines: 'of another form' }],
    ],
    ['Write', { file_path: 'offsets.csv', content: 'what its arguments have' }, null],
  ])('is read of %s, which says %o', (tool, told, output) => {
    expect(operations(ran(tool, told))).toMatchObject([{ kind: 'tool', output }]);
  });
});

describe('the tokens of a request', () => {
  const counts = {
    input_tokens: '7',
    output_tokens: '3',
    cache_read_tokens: '100',
    cache_creation_tokens: '20',
  };

  it('count those of the cache as input, which are beside it', () => {
    const [model] = operations(record('api_request', 2, { request_id: 'r', model: 'm', ...counts }));
    expect(model?.counts).toEqual({ model: 'm', input: 127, output: 3, cacheRead: 100, cacheWrite: 20 });
  });

  it('are those of the span if the record says none, with its model', () => {
    const [model] = operations(
      record('api_request', 2, { request_id: 'r', model: 'm' }),
      span('llm_request', ['b', 'a'], [1, 3], { request_id: 'r', 'gen_ai.request.model': 'm-1', ...counts }),
    );
    expect(model?.counts).toMatchObject({ model: 'm-1', input: 127 });
  });
});

describe('a wait for a person', () => {
  const run = span('tool', ['b', 'a'], [1, 9], { tool_use_id: 't', tool_name: 'Bash' });
  const blocked = (source: string) =>
    span('tool.blocked_on_user', ['c', 'b'], [2, 5], { source, duration_ms: 3000 });

  it.each([
    ['user_temporary', { waited_ms: 3000 }],
    ['user_permanent', { waited_ms: 3000 }],
    ['config', undefined],
    ['hook', undefined],
    ['classifier', undefined],
  ])('is what %s decided: %o', (source, summary) => {
    const [tool, ...others] = operations(run, blocked(source));
    expect(tool?.summary).toEqual(summary);
    expect(others).toEqual([]);
  });

  it('is the time from the answer to the decision where no span says it', () => {
    const [tool] = operations(
      record('api_request', 2, { request_id: 'r', model: 'm' }),
      record('tool_decision', 7, {
        request_id: 'r',
        tool_use_id: 't',
        source: 'user_temporary',
        decision: 'accept',
      }),
      record('tool_result', 8, { request_id: 'r', tool_use_id: 't', tool_name: 'Bash', duration_ms: '500' }),
    ).filter(({ kind }) => kind === 'tool');
    expect(tool).toMatchObject({ summary: { waited_ms: 5000 }, startedAt: 2 * second, endedAt: 8 * second });
  });
});

it('a tool that a person does not allow has failed', () => {
  const decision = { tool_use_id: 't', tool_name: 'Bash', decision: 'reject', source: 'user_reject' };
  expect(operations(record('tool_decision', 7, decision))).toMatchObject([
    { kind: 'tool', exception: 'not allowed to run: user_reject' },
  ]);
});

it('a request that failed is one call of its record and its span, and says why', () => {
  const failed = { model: 'm', error: 'overloaded', success: false };
  const found = operations(
    span('llm_request', ['b', 'a'], [1, 2], failed),
    record('api_error', 2.02, { model: 'm', error: 'overloaded', status_code: '529' }, { trace, span: 'a' }),
  );
  expect(found).toMatchObject([{ kind: 'model', exception: '529: overloaded' }]);
});

describe('a turn', () => {
  const prompt = (text: string) => record('user_prompt', 1, { prompt: text });
  const request = (id: string, at: number) =>
    record('api_request', at, { request_id: id, model: 'm', duration_ms: 1000 });
  const response = (id: string, at: number, text: string, more: JsonObject = {}) =>
    record('assistant_response', at, { request_id: id, response: text, ...more });
  const result = record('tool_result', 4, { tool_use_id: 't', tool_name: 'Bash', request_id: 'r1' });

  it('runs while the model wants tools', () => {
    const [turn] = operations(prompt('hi'), request('r1', 3), result);
    expect(turn).toMatchObject({ kind: 'agent', endedAt: undefined });
  });

  it('ends with the last answer of the main agent', () => {
    const ofSubAgent = { agent_id: 'x', query_source: 'agent:custom' };
    const [turn] = operations(
      prompt('hi'),
      request('r1', 3),
      result,
      request('r2', 6),
      response('r2', 6, 'done'),
      response('r3', 7, 'of the sub-agent', ofSubAgent),
    );
    expect(turn).toMatchObject({
      endedAt: 6 * second,
      inputs: { messages: [{ role: 'user', content: 'hi' }] },
      output: { messages: [{ role: 'assistant', content: 'done' }] },
    });
  });

  it.each([
    ['<task-notification>\n<task-id>a</task-id>', null],
    ['<system-reminder>be quick</system-reminder>', null],
    ['<div> is not centered', 'the turn'],
    ['<REDACTED>', 'the turn'],
  ])('that asks %j belongs to %s', (text, expected) => {
    const [turn] = operations(prompt(text));
    expect(turn?.turnId).toBe(expected === null ? null : turn?.id);
  });
});

it('sub-agents of one kind are told apart, each with its own question', () => {
  const spawn = (use: string, at: number, question: string) =>
    record('tool_result', at, {
      tool_use_id: use,
      tool_name: 'Agent',
      request_id: 'r',
      tool_input: JSON.stringify({ subagent_type: 'reader', prompt: question }),
    });
  const does = (agent: string, at: number) =>
    record('api_request', at, {
      agent_id: agent,
      'agent.name': 'reader',
      request_id: `r ${agent}`,
      model: 'm',
    });
  const found = operations(spawn('t1', 1, 'first?'), spawn('t2', 2, 'second?'), does('a', 3), does('b', 4));
  const agents = found.filter(({ kind }) => kind === 'agent');
  expect(agents.map(({ inputs, agent }) => [agent.id, JSON.stringify(inputs)])).toEqual([
    ['a', expect.stringContaining('first?')],
    ['b', expect.stringContaining('second?')],
  ]);
  const tools = found.filter(({ kind }) => kind === 'tool');
  expect(agents.map(({ parentId }) => parentId)).toEqual(tools.map(({ id }) => id));
  const models = found.filter(({ kind }) => kind === 'model');
  expect(models.map(({ parentId }) => parentId)).toEqual(agents.map(({ id }) => id));
});

it('spans within a tool are none of their own, and a hook is', () => {
  const found = operations(
    span('interaction', ['a'], [0, 9], { user_prompt: 'hi' }),
    span('tool', ['b', 'a'], [1, 8], { tool_use_id: 't', tool_name: 'mcp__o__find' }),
    span('tool.execution', ['c', 'b'], [2, 8], { tool_use_id: 't', success: false, error: 'gone' }),
    span('mcp.rpc', ['d', 'c'], [3, 8], { 'rpc.method': 'tools/call' }),
    span('hook', ['e', 'a'], [8, 9], { hook_name: 'PostToolUse:Bash' }),
  );
  expect(found.map(({ kind, name, exception }) => [kind, name, exception])).toEqual([
    ['agent', 'claude-code', undefined],
    ['tool', 'o.find', 'gone'],
    ['other', 'PostToolUse:Bash', undefined],
  ]);
});

it('spans whose parents form a circle are read all the same', () => {
  const found = operations(
    span('tool.execution', ['a', 'b'], [1, 2], { tool_use_id: 't' }),
    span('mcp.rpc', ['b', 'a'], [1, 2], {}),
    span('hook', ['c', 'a'], [1, 2], {}),
  );
  expect(found.map(({ kind }) => kind).sort()).toEqual(['other', 'tool']);
});
