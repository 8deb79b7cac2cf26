import { answerMessages, chatInputs, madeUp, messageList } from '../messages/chat.ts';
import { type Message, toMessages } from '../messages/message.ts';
import { asInputs, first, get, structured, textOf, unquoted } from '../values.ts';
import { asMessages, type Convention, field, type Kind, toolsOf } from './convention.ts';
import type { SpanReader } from './reader.ts';
import { countsOf } from './usage.ts';

/** Agents up to version 1.0 of Pydantic AI, and Logfire's wrappers of SDKs, name no operation. */
const kindOf = (span: SpanReader): Kind | undefined => {
  if (span.has('gen_ai.operation.name')) return undefined;
  if (span.has('tool_arguments')) return 'tool';
  if (span.has('request_data') && span.has('gen_ai.request.model'))
    return /embedding/i.test(span.peekText('gen_ai.request.model') ?? '') ? 'embedding' : 'model';
  return span.has('agent_name') && allMessages.some((key) => span.has(key)) ? 'agent' : undefined;
};

const allMessages = ['pydantic_ai.all_messages', 'all_messages_events'];

/** The one attribute that Pydantic AI's second format keeps a request's messages in. */
const eventMessages = (span: SpanReader, choices: boolean): readonly Message[] => {
  const events = span.json('events', ...allMessages);
  if (!Array.isArray(events)) return [];
  return events.flatMap((event: unknown) => {
    if (first(event, 'event.name') === undefined) return choices ? [] : toMessages(event, 'user');
    if (first(event, 'event.name') === 'gen_ai.choice') return choices ? toMessages(event, 'assistant') : [];
    const { 'event.name': _, 'gen_ai.message.index': __, ...message } = event as Record<string, unknown>;
    return choices ? [] : toMessages({ tool_call_id: get(event, 'id'), ...message }, 'user');
  });
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
  toolsOf(first(structured(span.value('model_request_parameters')), 'function_tools'));

/** Whether Pydantic AI made the span: it makes up conversations when the program names none. */
const isPydantic = (span: SpanReader): boolean => span.span.scope.name === 'pydantic-ai';

/**
 * Pydantic AI, and Logfire's wrappers of provider SDKs.
 * Source: pydantic/pydantic-ai, `models/instrumented.py`, and pydantic/logfire, `integrations`.
 */
export const logfire: Convention = {
  matches: ({ namespaces, span }) => namespaces.has('logfire') || span.scope.name === 'pydantic-ai',
  kind: kindOf,
  inputs: (span, kind) => {
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
    if (kind === 'tool') return unquoted(span.value('tool_response'));
    if (kind === 'agent') return asMessages(runMessages(span)[1]) ?? span.json('final_result');
    if (kind !== 'model') return undefined;
    if (span.has('events')) return asMessages(eventMessages(span, true));
    const data = span.json('response_data');
    const streamed = textOf(first(data, 'combined_chunk_content'));
    return asMessages(streamed === undefined ? answerMessages(data) : messageList([streamed], 'assistant'));
  },
  usage: (span) =>
    span.has('gen_ai.usage.input_tokens')
      ? undefined
      : countsOf(
          first(structured(span.peek('response_data')), 'usage'),
          span.peekText('gen_ai.response.model', 'gen_ai.request.model'),
        ),
  thread: (span) => (isPydantic(span) ? span.id('session.id', 'session_id') : undefined),
};
