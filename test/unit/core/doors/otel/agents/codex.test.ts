import { describe, expect, it } from 'vitest';
import { operationsOfCodex } from '../../../../../../core/doors/otel/agents/codex.ts';
import { inOrder } from '../../../../../../core/doors/otel/agents/facts.ts';
import type { JsonObject } from '../../../../../../foundations/wire/index.ts';

const second = 1_000_000;

const record = (event: string, at: number, attributes: JsonObject): JsonObject => ({
  event: `codex.${event}`,
  time: at * second,
  scope: {},
  resource: {},
  attributes: { 'conversation.id': 'c', model: 'gpt-5', ...attributes },
});

const prompt = record('user_prompt', 1, { prompt: 'count' });
const tokens = { 'event.kind': 'response.completed', input_token_count: '9', output_token_count: '2' };
const result = (attributes: JsonObject) =>
  record('tool_result', 5, { tool_name: 'exec_command', call_id: 'k', success: 'true', ...attributes });

const operations = (...facts: JsonObject[]) => operationsOfCodex(inOrder(facts));

it('a response is one call with the duration of its request and its tokens', () => {
  const found = operations(
    prompt,
    record('api_request', 3, { duration_ms: '1500', 'http.response.status_code': 200 }),
    record('sse_event', 4, { 'event.kind': 'response.completed', duration_ms: '0' }),
    record('sse_event', 4, tokens),
  );
  expect(found).toMatchObject([
    { kind: 'agent', endedAt: 4 * second },
    {
      kind: 'model',
      name: 'gpt-5',
      startedAt: 1.5 * second,
      endedAt: 4 * second,
      counts: { input: 9, output: 2 },
    },
  ]);
});

it('a request that failed is a call of its own, and the next one another', () => {
  const found = operations(
    prompt,
    record('api_request', 2, { 'http.response.status_code': 503, 'error.message': 'busy' }),
    record('api_request', 3, { duration_ms: '500' }),
    record('sse_event', 4, tokens),
  );
  expect(found.slice(1).map(({ exception, startedAt }) => [exception, startedAt / second])).toEqual([
    ['503: busy', 2],
    [undefined, 2.5],
  ]);
});

it('an answer that fails on the way is a call that failed, and what a stream says beside is none', () => {
  const found = operations(
    record('api_request', 3, { 'http.response.status_code': 200 }),
    record('sse_event', 4, { 'event.kind': 'response.output_item.done' }),
    record('sse_event', 5, { 'event.kind': 'response.failed', 'error.message': 'overloaded' }),
  );
  expect(found).toMatchObject([{ kind: 'model', exception: 'overloaded', endedAt: 5 * second }]);
});

it('a duration that leads to before 1970 is none', () => {
  const [, tool] = operations(prompt, result({ duration_ms: String(Number.MAX_SAFE_INTEGER) }));
  expect(tool).toMatchObject({ kind: 'tool', startedAt: 5 * second, endedAt: 5 * second });
});

describe('a command', () => {
  it.each([
    ['Process exited with code 0\nOutput:\nfine', undefined],
    ['Wall time: 0\nProcess exited with code 3\nOutput:\n', 'exit code 3'],
    ['Process exited with code 1\nOutput:\nno such file\n', 'exit code 1: no such file'],
    ['Process exited with code 0\nOutput:\nProcess exited with code 1', undefined],
    ['{"output":"bad","metadata":{"exit_code":2}}', 'exit code 2: bad'],
    ['plain', undefined],
  ])('that says %j has failed with %j', (output, exception) => {
    expect(operations(result({ output }))[0]?.exception).toBe(exception);
  });

  it('that a person was asked about says how long', () => {
    const decision = record('tool_decision', 4.5, {
      call_id: 'k',
      tool_name: 'exec_command',
      source: 'User',
    });
    const [, , tool] = operations(prompt, record('sse_event', 2, tokens), decision, result({ output: 'x' }));
    expect(tool).toMatchObject({ kind: 'tool', summary: { waited_ms: 2500 }, startedAt: 2 * second });
  });
});

it('a tool of an MCP server has its name', () => {
  expect(operations(result({ tool_name: 'look_up', mcp_server: 'orders' }))).toMatchObject([
    { tool: 'orders.look_up', name: 'orders.look_up' },
  ]);
});
