import { messageList, systemMessages } from '../messages/chat.ts';
import { type Message, toMessages } from '../messages/message.ts';
import { asInputs, type Dict, first, get, isDict, present, structured, unquoted } from '../values.ts';
import { asMessages, type Convention } from './convention.ts';
import type { ReadEvent, SpanReader } from './reader.ts';

const input = /^gen_ai\.(system|user|assistant|tool)\.message$/;
const details = 'gen_ai.client.inference.operation.details';

/** Whether an event of this name has content of a request, or of a tool's call. */
export const isMessage = (name: string): boolean =>
  input.test(name) ||
  name === 'gen_ai.choice' ||
  name === details ||
  name === 'gen_ai.content.prompt' ||
  name === 'gen_ai.content.completion';

/** The content of the event: its attributes, or the JSON that Azure's libraries put in one of them. */
const readBody = ({ attributes }: ReadEvent): Dict => {
  const body = structured(get(attributes, 'gen_ai.event.content'));
  return isDict(body) ? { ...attributes, ...body } : attributes;
};

const inputMessage = (event: ReadEvent): readonly Message[] => {
  const role = input.exec(event.name)?.[1] ?? 'user';
  const body = readBody(event);
  const id = first(body, 'tool_call_id', 'id');
  const { content, tool_calls, name } = body;
  return toMessages({ role: first(body, 'role') ?? role, content, tool_calls, name, tool_call_id: id }, role);
};

/** A choice has its message as text, as blocks, or as a message. */
const choiceMessages = (event: ReadEvent): readonly Message[] => {
  const body = readBody(event);
  const message = structured(first(body, 'message'));
  const finish_reason = first(body, 'finish_reason');
  if (isDict(message) && first(message, 'role', 'content', 'tool_calls') !== undefined)
    return toMessages({ ...message, finish_reason }, 'assistant');
  const { content, tool_calls } = body;
  const whole = first(body, 'message') ?? content;
  return toMessages({ role: 'assistant', content: whole, tool_calls, finish_reason }, 'assistant');
};

const readInputs = (event: ReadEvent): readonly Message[] => {
  const { attributes, name } = event;
  if (input.test(name)) return inputMessage(event);
  if (name === 'gen_ai.content.prompt') return messageList(get(attributes, 'gen_ai.prompt'), 'user') ?? [];
  if (name !== details) return [];
  return [
    ...systemMessages(get(attributes, 'gen_ai.system_instructions')),
    ...(messageList(get(attributes, 'gen_ai.input.messages'), 'user') ?? []),
  ];
};

const readOutputs = (event: ReadEvent): readonly Message[] => {
  const { attributes, name } = event;
  if (name === 'gen_ai.choice') return choiceMessages(event);
  if (name === 'gen_ai.content.completion')
    return messageList(get(attributes, 'gen_ai.completion'), 'assistant') ?? [];
  return name === details ? (messageList(get(attributes, 'gen_ai.output.messages'), 'assistant') ?? []) : [];
};

/** The messages of the events that have some; those events are used. */
const read = (span: SpanReader, toMessages: (event: ReadEvent) => readonly Message[]) =>
  span.events(isMessage).flatMap((event) => {
    const messages = toMessages(event);
    if (messages.length > 0) span.used(event);
    return messages;
  });

/** The arguments of a tool's call, as events of its span have them. */
const toolArguments = (span: SpanReader): Dict | undefined => {
  for (const event of span.events((name) => name === 'gen_ai.tool.message' || name === details)) {
    const content =
      event.name === details
        ? get(event.attributes, 'gen_ai.input.messages')
        : first(readBody(event), 'content');
    if (content === undefined) continue;
    span.used(event);
    const calls = event.name === details ? (messageList(content, 'tool') ?? []) : [];
    const args = event.name === details ? calls[0]?.tool_calls?.[0]?.function.arguments : content;
    return asInputs(unquoted(args));
  }
  return undefined;
};

const toolResult = (span: SpanReader): unknown => {
  const messages = read(span, readOutputs);
  return messages.length === 0 ? undefined : structured(messages[0]?.content);
};

/**
 * OpenTelemetry's conventions for generative AI, with messages as events of the span. There is one
 * event a message, or one event with all of them, or one for the prompt and one for the completion.
 * Source: semantic-conventions 1.28 to 1.36, `docs/gen-ai/gen-ai-events.md`, and 1.26 before it.
 */
export const genAiEvents: Convention = {
  matches: ({ span }) => span.events.some(({ name }) => isMessage(name)),
  inputs: (span, kind) =>
    kind === 'tool' ? [() => toolArguments(span)] : [() => asMessages(read(span, readInputs)) ?? present({})],
  output: (span, kind) => (kind === 'tool' ? toolResult(span) : asMessages(read(span, readOutputs))),
};
