import type { Micros } from '../../../../../foundations/wire/index.ts';
import { idFrom } from '../../calls.ts';
import type { Fact } from '../facts.ts';

/*
 * Claude Code tells of each operation by log records, and by spans too if they are switched on. The
 * records name the span around the operation: the turn's, or that of the execution of the tool
 * `Agent` for what a sub-agent does. A request is known by `request_id`, a tool's run by
 * `tool_use_id`, a sub-agent by `agent_id`.
 * Source: https://code.claude.com/docs/en/monitoring-usage, and its versions 2.1 themselves.
 */

const scopePrefix = 'com.anthropic.claude_code';

/** Whether a scope is of Claude Code's telemetry. */
export const isClaudeScope = (scope: { readonly name: string }): boolean =>
  scope.name.startsWith(scopePrefix);

/** Events that are of use. Others are passed over. */
export const claudeEvents: ReadonlySet<string> = new Set(
  [
    'user_prompt',
    'api_request',
    'api_error',
    'assistant_response',
    'tool_decision',
    'tool_result',
    'subagent_completed',
    'compaction',
  ].map((event) => `claude_code.${event}`),
);

export const event = {
  prompt: 'claude_code.user_prompt',
  request: 'claude_code.api_request',
  error: 'claude_code.api_error',
  response: 'claude_code.assistant_response',
  decision: 'claude_code.tool_decision',
  result: 'claude_code.tool_result',
  completed: 'claude_code.subagent_completed',
} as const;

export const span = {
  turn: 'claude_code.interaction',
  model: 'claude_code.llm_request',
  tool: 'claude_code.tool',
  execution: 'claude_code.tool.execution',
  blocked: 'claude_code.tool.blocked_on_user',
  spawn: 'claude_code.subagent.spawn',
} as const;

/** A compaction of the conversation is told by a record and by a span of one name. */
export const compaction = 'claude_code.compaction';

/** Spans within a tool's, which say of the tool what it says itself. */
export const withinTool: ReadonlySet<string> = new Set([
  span.execution,
  span.blocked,
  span.spawn,
  'claude_code.mcp.rpc',
  'claude_code.bash.subprocess',
]);

export const getSession = (fact: Fact): string => {
  const text = fact.text('session.id');
  return (text && idFrom(text)) ?? 'unknown';
};

export const first = <T>(facts: readonly Fact[], read: (fact: Fact) => T | undefined): T | undefined => {
  for (const fact of facts) {
    const found = read(fact);
    if (found !== undefined) return found;
  }
  return undefined;
};

export const getStart = (facts: readonly Fact[]): Micros =>
  Math.min(...facts.map(({ startedAt }) => startedAt));
export const getEnd = (facts: readonly Fact[]): Micros => Math.max(...facts.map(({ endedAt }) => endedAt));

export const named =
  (...names: readonly string[]) =>
  ({ name }: Fact): boolean =>
    names.includes(name);

export const getAgent = (facts: readonly Fact[]): string | undefined =>
  first(facts, (fact) => fact.text('agent_id'));
