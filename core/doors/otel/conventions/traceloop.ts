import { asInputs, get, isDict } from '../values.ts';
import { type Convention, type Kind, kindIn, namedArguments, unwrappedResult } from './convention.ts';

const kinds: Readonly<Record<string, Kind>> = {
  workflow: 'other',
  task: 'other',
  agent: 'agent',
  tool: 'tool',
};

const properties = 'traceloop.association.properties.';
const below = (...names: readonly string[]): string[] => names.map((name) => properties + name);

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
    const kind = kindIn(kinds, span.peekText('traceloop.span.kind'));
    const name = span.peekText('traceloop.entity.name') ?? span.span.name;
    return kind === 'other' && /retriev/i.test(name) ? 'retriever' : kind;
  },
  inputs: (span) => [() => asInputs(toolArguments(namedArguments(span.parsed('traceloop.entity.input'))))],
  output: (span) => unwrappedResult(span.parsed('traceloop.entity.output')),
  thread: (span) =>
    span.id(
      ...below('session_id', 'thread_id', 'conversation_id', 'chat_id'),
      ...below('sessionId', 'threadId', 'conversationId', 'chatId', 'session.id'),
    ),
  user: (span) => span.id(...below('user_id', 'userId', 'user.id')),
};
