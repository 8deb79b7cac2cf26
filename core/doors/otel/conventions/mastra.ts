import type { JsonValue } from '../../../../foundations/wire/index.ts';
import { asInputs, asText, first, isDict, structured } from '../values.ts';
import {
  type Convention,
  type Kind,
  labelsIn,
  prefixed,
  type Resume,
  sessionNames,
  userNames,
  type Wait,
} from './convention.ts';
import type { SpanReader } from './reader.ts';

const getKind = (span: SpanReader): Kind | undefined => {
  const type = span.peekText('mastra.span.type');
  if (type === undefined) return undefined;
  if (/tool_call$/.test(type)) return 'tool';
  if (type === 'agent_run') return 'agent';
  if (type === 'workflow_run') return 'workflow';
  if (type === 'rag_embedding') return 'embedding';
  if (type === 'model_inference') return 'model';
  // Before there were inferences, the generation was the request.
  const request = /^(model|llm)_generation$/.test(type) && span.peek('gen_ai.operation.name') === 'chat';
  return request ? 'model' : 'other';
};

const peeked = (span: SpanReader, what: 'input' | 'output'): unknown =>
  structured(span.peek(`mastra.${span.peekText('mastra.span.type')}.${what}`));

/** The one attribute of the span's type, such as `mastra.agent_run.input`. */
const own = (span: SpanReader, what: 'input' | 'output'): unknown => {
  const type = span.peekText('mastra.span.type');
  return type === undefined ? undefined : span.json(`mastra.${type}.${what}`);
};

/** The run that is suspended and goes on: both say its id. */
const runKeys = (span: SpanReader): Pick<Wait, 'keys' | 'unique'> => ({
  keys: [span.peekText('mastra.metadata.runId') ?? []].flat(),
  unique: span.has('mastra.metadata.runId'),
});

/** A step, and the workflow around it, say so in their status; an agent in its output. */
const suspension = (span: SpanReader): Wait | undefined => {
  const type = span.peekText('mastra.span.type');
  const status = span.peekText(`mastra.${type}.status`) ?? first(peeked(span, 'output'), 'status');
  return status === 'suspended' ? runKeys(span) : undefined;
};

/** Everything below a run that goes on says so, too. */
const resume = (span: SpanReader): Resume | undefined => {
  const type = span.peekText('mastra.span.type') ?? '';
  const isResumed = /^(?:agent|workflow)_run$/.test(type) && span.has('mastra.metadata.resumedFromSpanId');
  if (!isResumed) return undefined;
  const answer = own(span, 'input');
  const { approved, toolName } = isDict(answer) ? answer : {};
  const verdict = approved === true ? 'approved' : 'declined';
  const content =
    typeof approved === 'boolean' ? [verdict, toolName].filter(Boolean).join(': ') : asText(answer);
  if (answer === undefined) return runKeys(span);
  return {
    ...runKeys(span),
    answer: answer as JsonValue,
    inputs: { messages: [{ role: 'user', content }] },
  };
};

/**
 * Mastra's exporter. Messages of a request are on the step around it.
 * Source: mastra-ai/mastra, `observability/otel-exporter`.
 */
export const mastra: Convention = {
  matches: ({ namespaces }) => namespaces.has('mastra'),
  kind: getKind,
  inputs: (span) => [() => asInputs(own(span, 'input'))],
  output: (span) => own(span, 'output'),
  tool: (span) => {
    const name = span.peekText('gen_ai.tool.name');
    const server = span.peekText('mcp.server', 'mcp.server.name', 'mastra.metadata.mcpServer');
    return name === undefined || server === undefined ? name : `${server}.${name.replace(`${server}_`, '')}`;
  },
  thread: prefixed('mastra.metadata.', ['threadId', ...sessionNames]),
  user: prefixed('mastra.metadata.', [...userNames, 'resourceId']),
  wait: suspension,
  resume,
  labels: { ...labelsIn('mastra.metadata.'), tags: ['mastra.tags', 'mastra.metadata.tags'] },
};
