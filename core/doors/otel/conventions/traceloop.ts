import { asInputs, get, isDict } from '../values.ts';
import {
  asNamed,
  type Convention,
  kindNamed,
  labelsIn,
  namedArguments,
  prefixed,
  sessionNames,
  unwrappedResult,
  userNames,
} from './convention.ts';
import { commandIn, readInterrupt } from './langgraph.ts';
import { readApproval } from './openai-agents.ts';

const properties = 'traceloop.association.properties.';

/**
 * Arguments of a tool, as LangChain's callback has them: `{input_str, inputs, tags, metadata,
 * kwargs}`. `input_str` is Python's text of them.
 */
const toolArguments = (value: unknown): unknown =>
  typeof get(value, 'input_str') === 'string' && isDict(get(value, 'inputs')) ? get(value, 'inputs') : value;

/**
 * OpenLLMetry's decorators and frameworks. It has no kind for retrieval, which is a task.
 * Source: openllmetry, `traceloop-sdk` and `opentelemetry-semantic-conventions-ai`.
 */
export const traceloop: Convention = {
  matches: ({ namespaces }) => namespaces.has('traceloop'),
  kind: (span) => {
    const kind = kindNamed(span.peekText('traceloop.span.kind'));
    const name = span.peekText('traceloop.entity.name') ?? span.span.name;
    return kind === 'other' && /retriev/i.test(name) ? 'retriever' : kind;
  },
  inputs: (span) => [() => asInputs(toolArguments(namedArguments(span.parsed('traceloop.entity.input'))))],
  output: (span) => unwrappedResult(span.parsed('traceloop.entity.output')),
  agent: (span, kind) => {
    const own = kind === 'agent' ? span.peekText('traceloop.entity.name') : undefined;
    return asNamed(span.peekText('gen_ai.agent.name', 'crewai.agent.role') ?? own);
  },
  tool: (span) => span.peekText('gen_ai.tool.name', 'traceloop.entity.name'),
  thread: prefixed(properties, sessionNames),
  user: prefixed(properties, userNames),
  wait: (span, kind) =>
    readInterrupt(span) ??
    readApproval(span, kind, ['gen_ai.tool.call.arguments'], ['gen_ai.tool.call.result']),
  resume: (span) => commandIn(span, 'traceloop.entity.input'),
  labels: labelsIn(properties),
};
