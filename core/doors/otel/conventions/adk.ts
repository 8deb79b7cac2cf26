import { nonEmptyString } from '../../../../foundations/wire/index.ts';
import { answerMessages, chatInputs } from '../messages/chat.ts';
import { asInputs, first, isDict, structured } from '../values.ts';
import { asMessages, type Convention, type Kind, type Wait } from './convention.ts';
import type { Counts, SpanReader } from './reader.ts';
import { parseCounts } from './usage.ts';

const scope = 'gcp.vertex.agent';
const request = 'gcp.vertex.agent.llm_request';
const response = 'gcp.vertex.agent.llm_response';

/**
 * By ADK's first schema a request has two spans, `call_llm` with the content and `generate_content`
 * in it. Both count its tokens; here the outer one is the request. Failed ones have nothing but
 * their name. By the second schema, which ADK 2 has from the start, `generate_content` is alone. It
 * names its provider, as `gen_ai.provider.name` and no longer as `gen_ai.system`.
 */
const getKind = (span: SpanReader): Kind | undefined => {
  const { name } = span.span;
  if (name === 'call_llm') return 'model';
  if (span.peek('gen_ai.operation.name') === 'generate_content')
    return span.has('gen_ai.provider.name') ? 'model' : 'other';
  // Calls that run at once have a span each, and this one beside them.
  if (name === 'execute_tool (merged)') return 'other';
  if (/^execute_tool\b/.test(name)) return 'tool';
  return /^(invoke_agent|agent_run)\b/.test(name) ? 'agent' : undefined;
};

/** What a tool that said nothing is reported to have said. */
const nothing = (value: unknown): boolean =>
  first(value, 'result') === '<not specified>' ||
  value === 'N/A' ||
  (isDict(value) && Object.keys(value).length === 0);

const object = (value: unknown): unknown => (nothing(value) ? undefined : value);

const counts = (span: SpanReader): Counts | undefined => {
  const answer = structured(span.peek(response));
  return parseCounts(
    first(answer, 'usage_metadata'),
    nonEmptyString(first(answer, 'model_version')) ?? span.peekText('gen_ai.request.model'),
  );
};

/** What a tool that may not run yet says instead of a result. */
const unconfirmed = /requires confirmation/;

/** A tool that a person has to confirm, or whose result comes later. Without content only its type tells. */
const pending = (span: SpanReader): Wait | undefined => {
  const result = span.peekText(
    'gen_ai.tool.call.result',
    'gen_ai.tool.result',
    'gcp.vertex.agent.tool_response',
  );
  const isLong = span.peek('gen_ai.tool.type') === 'LongRunningFunctionTool';
  if (!isLong && !unconfirmed.test(result ?? '')) return undefined;
  const id = span.peekText('gen_ai.tool.call.id');
  return id === undefined ? { keys: [] } : { keys: [id], unique: true };
};

/**
 * Google's Agent Development Kit. Requests and answers have Gemini's form whatever the model.
 * Source: google/adk-python, `src/google/adk/telemetry/tracing.py`.
 */
export const adk: Convention = {
  matches: ({ namespaces, span }) => span.scope.name === scope || namespaces.has('gcp'),
  kind: (span) => (span.span.scope.name === scope || span.has(request) ? getKind(span) : undefined),
  inputs: (span, kind) => {
    if (kind === 'tool') return [() => asInputs(object(span.json('gcp.vertex.agent.tool_call_args')))];
    return kind === 'model' ? [() => chatInputs(object(span.json(request)))] : [];
  },
  output: (span, kind) => {
    if (kind === 'tool') return object(span.json('gcp.vertex.agent.tool_response'));
    if (kind !== 'model') return undefined;
    const answer = object(span.json(response));
    return answer === undefined ? undefined : asMessages(answerMessages(first(answer, 'content') ?? answer));
  },
  usage: counts,
  wait: (span, kind) => (kind === 'tool' && span.span.scope.name === scope ? pending(span) : undefined),
  thread: ['gcp.vertex.agent.session_id'],
};
