import { asInputs } from '../values.ts';
import { type Convention, type Kind, labelsIn, prefixed, sessionNames, userNames } from './convention.ts';
import type { SpanReader } from './reader.ts';

const kindOf = (span: SpanReader): Kind | undefined => {
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

/** The one attribute of the span's type, such as `mastra.agent_run.input`. */
const own = (span: SpanReader, what: 'input' | 'output'): unknown => {
  const type = span.peekText('mastra.span.type');
  return type === undefined ? undefined : span.json(`mastra.${type}.${what}`);
};

/**
 * Mastra's exporter. Messages of a request are on the step around it.
 * Source: mastra-ai/mastra, `observability/otel-exporter`.
 */
export const mastra: Convention = {
  matches: ({ namespaces }) => namespaces.has('mastra'),
  kind: kindOf,
  inputs: (span) => [() => asInputs(own(span, 'input'))],
  output: (span) => own(span, 'output'),
  tool: (span) => {
    const name = span.peekText('gen_ai.tool.name');
    const server = span.peekText('mcp.server', 'mcp.server.name', 'mastra.metadata.mcpServer');
    return name === undefined || server === undefined ? name : `${server}.${name.replace(`${server}_`, '')}`;
  },
  thread: prefixed('mastra.metadata.', ['threadId', ...sessionNames]),
  user: prefixed('mastra.metadata.', [...userNames, 'resourceId']),
  labels: { ...labelsIn('mastra.metadata.'), tags: ['mastra.tags', 'mastra.metadata.tags'] },
};
