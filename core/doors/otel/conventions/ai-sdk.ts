import { chatInputs, messageList } from '../messages/chat.ts';
import { toMessages } from '../messages/message.ts';
import { asInputs, type Dict, present, unquoted } from '../values.ts';
import { approvalAsked, approvalGiven } from './approvals.ts';
import {
  asMessages,
  asNamed,
  type Convention,
  field,
  type Kind,
  parseTools,
  sessionNames,
  userNames,
} from './convention.ts';
import { usageKeys } from './gen-ai.ts';
import type { SpanReader } from './reader.ts';

const getKind = (operation: string): Kind | undefined => {
  if (/\.do(Generate|Stream)$/.test(operation)) return 'model';
  if (/\.doEmbed$/.test(operation)) return 'embedding';
  if (/\.doRerank$/.test(operation)) return 'retriever';
  if (operation === 'ai.toolCall') return 'tool';
  return /^ai\.(generate|stream)(Text|Object)$/.test(operation) ? 'agent' : 'other';
};

/** `ai.settings.temperature` as `temperature`; the context is the program's own. */
const settings = (span: SpanReader): Dict | undefined => {
  const keys = Array.from(span.span.attributes.keys()).filter((key) => /^ai\.settings\.\w+$/.test(key));
  return present(Object.fromEntries(keys.map((key) => [key.slice('ai.settings.'.length), span.value(key)])));
};

const readInputs = (span: SpanReader, kind: Kind): readonly (() => Dict | undefined)[] => {
  const model = () => field('model', span.text('gen_ai.request.model', 'ai.model.id'));
  // Values to embed come as JSON text each.
  const values = () => {
    const value = span.parsed('ai.value');
    const list = span.value('ai.values');
    return field('input', Array.isArray(list) ? list.map(unquoted) : value);
  };
  if (kind === 'tool') return [() => asInputs(span.parsed('ai.toolCall.args', 'ai.toolCall.input'))];
  if (kind === 'embedding') return [values, model];
  const messages = () => asMessages(messageList(span.value('ai.prompt.messages'), 'user'));
  const prompt = () => chatInputs(span.value('ai.prompt'));
  if (kind === 'agent') return [() => prompt() ?? messages()];
  if (kind !== 'model') return [values, prompt];
  return [
    messages,
    prompt,
    model,
    () => field('tools', parseTools(span.value('ai.prompt.tools'))),
    () => field('tool_choice', span.json('ai.prompt.toolChoice')),
    () => settings(span),
  ];
};

const readOutput = (span: SpanReader, kind: Kind): unknown => {
  if (kind === 'tool') return span.parsed('ai.toolCall.result', 'ai.toolCall.output');
  if (kind === 'embedding' || kind === 'other') {
    const list = span.value('ai.embeddings');
    return field('embeddings', Array.isArray(list) ? list.map(unquoted) : span.parsed('ai.embedding'));
  }
  const text = span.value('ai.response.text', 'ai.result.text', 'ai.response.object', 'ai.result.object');
  const toolCalls = span.json('ai.response.toolCalls', 'ai.result.toolCalls');
  const reasoning = span.text('ai.response.reasoning');
  if (text === undefined && toolCalls === undefined) return undefined;
  const content =
    reasoning === undefined
      ? text
      : [{ type: 'reasoning', text: reasoning }, ...(text === undefined ? [] : [{ type: 'text', text }])];
  return asMessages(toMessages({ role: 'assistant', content, toolCalls }, 'assistant'));
};

const countKeys = {
  model: ['ai.response.model', 'gen_ai.response.model', 'gen_ai.request.model', 'ai.model.id'],
  input: ['ai.usage.inputTokens', 'ai.usage.promptTokens', 'ai.usage.tokens', ...usageKeys.input],
  output: ['ai.usage.outputTokens', 'ai.usage.completionTokens', ...usageKeys.output],
  total: ['ai.usage.totalTokens'],
  cacheRead: [
    'ai.usage.inputTokenDetails.cacheReadTokens',
    'ai.usage.cachedInputTokens',
    ...usageKeys.cacheRead,
  ],
  cacheWrite: ['ai.usage.inputTokenDetails.cacheWriteTokens', ...usageKeys.cacheWrite],
  reasoning: ['ai.usage.outputTokenDetails.reasoningTokens', 'ai.usage.reasoningTokens'],
};

/** Keys of the program's own metadata: `metadata` up to version 6, `context` since. */
const metadata = (names: readonly string[]): string[] =>
  names.flatMap((name) => [`ai.telemetry.metadata.${name}`, `ai.settings.context.${name}`]);

/**
 * The AI SDK of Vercel, versions 3 to 7. From 7 on it follows `gen_ai` and adds `ai.*`.
 * Source: vercel/ai, `packages/ai/src/telemetry` and `packages/otel`.
 */
export const aiSdk: Convention = {
  matches: ({ namespaces, span }) => namespaces.has('ai') || span.scope.name === 'gen_ai',
  kind: (span) => {
    const operation = span.peekText('ai.operationId');
    if (operation !== undefined) return getKind(operation);
    // Version 7 wraps the request in a span of the same name, which counts no tokens.
    const wraps =
      span.span.scope.name === 'gen_ai' &&
      span.peek('gen_ai.operation.name') === 'embeddings' &&
      !span.has('gen_ai.usage.input_tokens');
    return wraps ? 'other' : undefined;
  },
  inputs: readInputs,
  output: readOutput,
  usage: (span) => span.counts(countKeys),
  // What programs call a function is the name of an agent since version 7.
  agent: (span, kind) =>
    kind === 'agent' ? asNamed(span.peekText('gen_ai.agent.name', 'ai.telemetry.functionId')) : undefined,
  tool: (span) => span.peekText('ai.toolCall.name'),
  name: (span) =>
    span.peekText('ai.operationId') === 'ai.toolCall' ? span.peekText('ai.toolCall.name') : undefined,
  wait: (span, kind) => approvalAsked(span, kind, ['ai.response.messages', 'ai.response.content']),
  resume: (span, kind) => approvalGiven(span, kind, ['ai.prompt.messages', 'ai.prompt']),
  thread: metadata(sessionNames),
  user: metadata(userNames),
  labels: {
    environment: metadata(['environment']),
    release: metadata(['release']),
    tags: metadata(['tags']),
  },
};
