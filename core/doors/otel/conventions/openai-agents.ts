import type { Kind, Wait } from './convention.ts';
import type { SpanReader } from './reader.ts';

const scopes: ReadonlySet<string> = new Set([
  'openinference.instrumentation.openai_agents',
  'opentelemetry.instrumentation.openai_agents',
]);

/** Whether an instrumentation of OpenAI's Agents made the span. */
export const isOfOpenAiAgents = ({ span }: Pick<SpanReader, 'span'>): boolean => scopes.has(span.scope.name);

const errorStatus = 2;

/**
 * The question whether a tool of OpenAI's Agents may run: its span ends at once, without what the tool
 * gave, and so does the agent's run. A tool that gives `None` has none either, but the run goes on.
 * Source: openai/openai-agents-python, `src/agents/run_internal/tool_execution.py`.
 */
export const readApproval = (
  { span }: SpanReader,
  kind: Kind,
  inputs: readonly string[],
  outputs: readonly string[],
): Wait | undefined => {
  const has = (key: string): boolean => span.attributes.has(key);
  const isQuestion =
    kind === 'tool' &&
    isOfOpenAiAgents({ span }) &&
    span.status.code !== errorStatus &&
    inputs.some(has) &&
    !outputs.some(has);
  return isQuestion ? { keys: [], isLast: true } : undefined;
};
