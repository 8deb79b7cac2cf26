import { isNumber, nonEmptyString } from '../../../../foundations/wire/index.ts';
import { answerMessages, chatInputs, madeUp, messageList } from '../messages/chat.ts';
import { type Message, toMessages } from '../messages/message.ts';
import { asInputs, first, get, present, structured, unquoted } from '../values.ts';
import {
  asMessages,
  asNamed,
  type Convention,
  field,
  type Kind,
  parseTools,
  type Resume,
  type Wait,
} from './convention.ts';
import { genAiCounts } from './gen-ai.ts';
import { isOpenAiAgents } from './names.ts';
import type { SpanReader } from './reader.ts';
import { parseCounts } from './usage.ts';

/** OpenAI's agents, by the beginning of a span's name, which is a template. */
const agentKinds: readonly (readonly [start: string, kind: Kind])[] = [
  ['Agent run', 'agent'],
  ['Function', 'tool'],
  ['Chat completion', 'model'],
  ['Responses API', 'model'],
];

const openAiAgentsKind = (span: SpanReader): Kind | undefined =>
  agentKinds.find(([start]) => span.span.name.startsWith(start))?.[1] ??
  (span.has('gen_ai.request.model') ? undefined : 'other');

/** Agents up to version 1.0 of Pydantic AI, and Logfire's wrappers of SDKs, name no operation. */
const getKind = (span: SpanReader): Kind | undefined => {
  if (isOpenAiAgents(span)) return openAiAgentsKind(span);
  if (span.has('gen_ai.operation.name')) return undefined;
  if (span.has('tool_arguments')) return 'tool';
  if (span.has('request_data') && span.has('gen_ai.request.model'))
    return /embedding/i.test(span.peekText('gen_ai.request.model') ?? '') ? 'embedding' : 'model';
  return span.has('agent_name') && allMessages.some((key) => span.has(key)) ? 'agent' : undefined;
};

const allMessages = ['pydantic_ai.all_messages', 'all_messages_events'];

const isChoice = (event: unknown): boolean => first(event, 'event.name') === 'gen_ai.choice';

/**
 * The one attribute that Pydantic AI's second format keeps a request's messages in. Logfire writes
 * so what it sees of the Responses API, and names no choice: what the assistant says last is the
 * answer.
 */
const eventMessages = (span: SpanReader, choices: boolean): readonly Message[] => {
  const events: unknown = span.json('events', ...allMessages);
  if (!Array.isArray(events)) return [];
  const named = isPydantic(span) || events.some(isChoice);
  const cut = named ? events.length : events.findLastIndex((event) => get(event, 'role') !== 'assistant') + 1;
  return events.flatMap((event: unknown, at) => {
    if ((isChoice(event) || at >= cut) !== choices) return [];
    if (first(event, 'event.name') === undefined) return toMessages(event, 'user');
    if (isChoice(event)) return toMessages(event, 'assistant');
    const { 'event.name': _, 'gen_ai.message.index': __, ...message } = event as Record<string, unknown>;
    return toMessages({ tool_call_id: get(event, 'id'), ...message }, 'user');
  });
};

/** Inputs and output of a request of OpenAI's agents to chat completions; `request_data` has both in one list. */
const generation = (span: SpanReader, what: 'input' | 'output'): readonly Message[] | undefined => {
  const messages = messageList(span.json(what), what === 'input' ? 'user' : 'assistant');
  if (messages) span.value('request_data');
  return messages;
};

/** A run's messages are one list. What follows the last message of the user is the output. */
const runMessages = (span: SpanReader): readonly [readonly Message[], readonly Message[]] => {
  const messages = eventMessages(span, false);
  const cut = messages.findLastIndex(({ role }) => role === 'user') + 1;
  return [messages.slice(0, cut), messages.slice(cut)];
};

/** The body of a request. Since version 5 it has no messages, which stand beside it. */
const requestData = (span: SpanReader) => {
  const data = span.json('request_data');
  const inputs = chatInputs(data);
  return inputs && madeUp in inputs ? asInputs(data) : inputs;
};

const requestTools = (span: SpanReader) =>
  parseTools(first(structured(span.value('model_request_parameters')), 'function_tools'));

/** The provider's own usage, which alone has cached tokens. */
const rawUsage = (span: SpanReader): unknown =>
  span.value('gen_ai.usage.raw') ??
  first(structured(span.peek('response_data')), 'usage') ??
  (isOpenAiAgents(span)
    ? (first(structured(span.peek('response')), 'usage') ?? span.peek('usage'))
    : undefined);

/** Whether Pydantic AI made the span: it makes up conversations when the program names none. */
const isPydantic = (span: SpanReader): boolean => span.span.scope.name === 'pydantic-ai';

const idsIn = (list: unknown, ...names: readonly string[]): string[] =>
  Array.isArray(list) ? list.flatMap((item) => nonEmptyString(first(item, ...names)) ?? []) : [];

/** A run of Pydantic AI that ends with tools for which a person is asked, or which others run. */
const deferred = (span: SpanReader): Wait | undefined => {
  const text = span.peekText('final_result');
  if (!text?.startsWith('{') || !text.includes('"approvals"')) return undefined;
  const result = structured(text);
  const keys = [get(result, 'approvals'), get(result, 'calls')].flatMap((list) =>
    idsIn(list, 'tool_call_id'),
  );
  return keys.length > 0 ? { keys, unique: true } : undefined;
};

const isResult = (part: unknown): boolean => get(part, 'type') === 'tool_call_response';

/** A run that goes on behind calls of tools that an earlier one left open. */
const deferredResults = (span: SpanReader): Resume | undefined => {
  const start = span.peek('pydantic_ai.new_message_index');
  const text = span.peekText('pydantic_ai.all_messages');
  if (!isNumber(start) || !text?.includes('tool_call_response')) return undefined;
  const messages = structured(text);
  const parts = Array.isArray(messages) ? get(messages[Number(start)], 'parts') : undefined;
  if (!Array.isArray(parts) || !parts.some(isResult)) return undefined;
  return { keys: idsIn(parts.filter(isResult), 'id'), unique: true };
};

/**
 * Pydantic AI, and Logfire's wrappers of provider SDKs.
 * Source: pydantic/pydantic-ai, `models/instrumented.py`, and pydantic/logfire, `integrations`.
 */
export const logfire: Convention = {
  matches: ({ namespaces, span }) => namespaces.has('logfire') || span.scope.name === 'pydantic-ai',
  kind: getKind,
  inputs: (span, kind) => {
    if (isOpenAiAgents(span) && !span.has('events')) {
      if (kind === 'model' && span.has('input')) return [() => asMessages(generation(span, 'input'))];
      if (kind === 'tool') return [() => asInputs(unquoted(span.value('input')))];
    }
    if (kind === 'tool') return [() => asInputs(unquoted(span.value('tool_arguments')))];
    if (kind === 'agent') return [() => asMessages(runMessages(span)[0])];
    if (kind === 'embedding') return [() => asInputs(span.json('request_data'))];
    if (kind !== 'model') return [];
    return [
      () => (span.has('events') ? asMessages(eventMessages(span, false)) : undefined),
      () => requestData(span),
      () => (span.has('gen_ai.tool.definitions') ? undefined : field('tools', requestTools(span))),
    ];
  },
  output: (span, kind) => {
    if (isOpenAiAgents(span) && !span.has('events') && (kind === 'tool' || kind === 'model'))
      return kind === 'tool' ? unquoted(span.value('output')) : asMessages(generation(span, 'output'));
    if (kind === 'tool') return unquoted(span.value('tool_response'));
    if (kind === 'agent') return asMessages(runMessages(span)[1]) ?? span.json('final_result');
    if (kind !== 'model') return undefined;
    if (span.has('events')) return asMessages(eventMessages(span, true));
    const data = span.json('response_data');
    const streamed = nonEmptyString(first(data, 'combined_chunk_content'));
    return asMessages(streamed === undefined ? answerMessages(data) : messageList([streamed], 'assistant'));
  },
  usage: (span) => {
    const raw = parseCounts(rawUsage(span), span.peekText('gen_ai.response.model', 'gen_ai.request.model'));
    return raw && { ...raw, ...present({ ...genAiCounts(span) }) };
  },
  thread: (span) => (isPydantic(span) ? span.id('session.id', 'session_id') : undefined),
  wait: (span, kind) => (kind === 'agent' ? deferred(span) : undefined),
  resume: (span, kind) => (kind === 'agent' ? deferredResults(span) : undefined),
  labels: { tags: ['logfire.tags'] },
  agent: (span, kind) =>
    asNamed(
      isOpenAiAgents(span)
        ? kind === 'agent'
          ? span.peekText('name')
          : undefined
        : span.peekText('gen_ai.agent.name', 'agent_name'),
    ),
  tool: (span) => {
    if (!isOpenAiAgents(span)) return undefined;
    const name = span.peekText('name');
    const server = nonEmptyString(first(structured(span.peek('mcp_data')), 'server'));
    return name === undefined || server === undefined ? name : `${server}.${name}`;
  },
  name: (span) => {
    const message = span.peekText('logfire.msg');
    return message === span.span.name ? undefined : message;
  },
  exception: (span) => {
    if (!isOpenAiAgents(span)) return undefined;
    const error = structured(span.peek('error'));
    const details = first(get(error, 'data'), 'error');
    return (
      [nonEmptyString(first(error, 'message')), nonEmptyString(details)].filter(Boolean).join(': ') ||
      undefined
    );
  },
};
