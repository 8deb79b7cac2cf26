import type { Named } from './convention.ts';
import type { SpanReader } from './reader.ts';

/*
 * Names of tools and agents, where a framework has them in the name of the span alone.
 */

/** What stands around a tool's name in names of spans. */
const aroundTool =
  /^(?:execute_tool|running tool:?|tools\/call|MCP send tools\/call|tool:|tool call:?|Function:)\s+(.+)$|^(.+)\.tool$/i;

/** Tools of MCP servers, as Claude's agents name them. */
const ofServer = /^mcp__(.+?)__(.+)$/;

const unquotedName = (name: string): string => name.replace(/^(['"])(.*)\1$/, '$2');

/** The canonical name of a tool: the one that is said, else what the span's name has. */
export const toolIn = ({ span }: SpanReader, toolName: string | undefined): string => {
  const found = aroundTool.exec(span.name);
  const name = toolName ?? unquotedName(found?.[1] ?? found?.[2] ?? span.name);
  return name.replace(ofServer, '$1.$2');
};

/** Whether a library that traces OpenAI's agents made the span. */
export const isOpenAiAgents = ({ span }: SpanReader): boolean => /openai[._-]agents/.test(span.scope.name);

/** What stands around an agent's name in names of spans. */
const aroundAgent =
  /^(?:(?:invoke_agent|create_agent|agent_run|Agent run:|agent:|agent run)\s+)?\[?(.+?)\]?(?: run|\.run|\.agent|\._?(?:a?execute_core|a?execute|invoke|kickoff))?$/i;

/** Names of spans that frameworks give to any agent. */
const ofAny =
  /^(?:invoke_agent|create_agent|agent|agent[_ ]run|langgraph|agent_?executor|runnablesequence|ai\.\w+|haystack\..+|unnamed)$/i;

/** The agent that the name of its run's span names; undefined if that is the same for any agent. */
export const agentIn = (span: SpanReader): Named | undefined => {
  // The run of OpenAI's agents has the name of the workflow, and is of no agent.
  if (isOpenAiAgents(span)) return undefined;
  const name = unquotedName(aroundAgent.exec(span.span.name)?.[1]?.trim() ?? '');
  const models = ['gen_ai.request.model', 'gen_ai.response.model'].map((key) => span.peek(key));
  return name === '' || ofAny.test(name) || models.includes(name) ? undefined : { name };
};
