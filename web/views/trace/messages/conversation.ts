import type { Call } from '../../../api/types.ts';
import { isFields, type Message, messageOf, type Part, sameMessage } from './message.ts';

/** The messages of a model call. */
export interface Conversation {
  /** What was sent, as it came: compared with what an earlier call sent. */
  readonly raw: readonly unknown[];
  readonly sent: readonly Message[];
  readonly received: readonly Message[];
}

const listOf = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) && value.length > 0 ? value : undefined;

/** A list of messages looks like one: texts do not make a conversation. */
const isConversation = (list: readonly unknown[]): boolean =>
  list.every((item) => isFields(item) && ('role' in item || typeof item.type === 'string'));

/** The system prompt that Anthropic, Bedrock and OpenAI's responses keep apart. */
const systemOf = (inputs: Readonly<Record<string, unknown>>): unknown[] => {
  const content = inputs.system ?? inputs.instructions ?? inputs.system_instructions;
  return content === undefined || content === null || content === '' ? [] : [{ role: 'system', content }];
};

const sentOf = (inputs: unknown): readonly unknown[] | undefined => {
  if (!isFields(inputs)) return undefined;
  const { input, prompt } = inputs;
  const list = listOf(inputs.messages) ?? listOf(input);
  if (list && isConversation(list)) return [...systemOf(inputs), ...list];
  // OpenAI's responses and completions take a text, too. Other calls have an `input` of any kind.
  const text = typeof input === 'string' ? input : prompt;
  return typeof text === 'string' && typeof inputs.model === 'string'
    ? [...systemOf(inputs), { role: 'user', content: text }]
    : undefined;
};

/** The messages of an answer, in any provider's shape. */
const receivedOf = (output: unknown): readonly unknown[] => {
  if (typeof output === 'string') return [{ role: 'assistant', content: output }];
  if (!isFields(output)) return Array.isArray(output) && isConversation(output) ? output : [];
  const { choices, message, content, messages, output: inner } = output;
  if (Array.isArray(choices))
    return choices.map((choice) => (isFields(choice) ? (choice.message ?? choice.text ?? choice) : choice));
  if (listOf(messages)) return messages as unknown[];
  if (isFields(message)) return [message];
  if (Array.isArray(inner)) return inner;
  if (isFields(inner) && isFields(inner.message)) return [inner.message];
  if (content !== undefined) return [{ role: 'assistant', ...output }];
  return [];
};

/** Reads the conversation of a call; undefined if it has none. */
export const conversationOf = ({
  inputs,
  output,
}: Pick<Call, 'inputs' | 'output'>): Conversation | undefined => {
  const raw = sentOf(inputs);
  if (!raw) return undefined;
  return {
    raw,
    sent: withToolNames(raw.map((message) => messageOf(message))),
    received: receivedOf(output).map((message) => messageOf(message, 'assistant')),
  };
};

/** Gives every result the name of the tool, by the id of the call that asked for it. */
const withToolNames = (messages: readonly Message[]): Message[] => {
  const names = new Map<string, string>();
  const named = (part: Part): Part => {
    if (part.kind === 'call' && part.id !== undefined) names.set(part.id, part.name);
    if (part.kind !== 'result' || part.id === undefined) return part;
    const name = names.get(part.id);
    return name === undefined ? part : { ...part, name };
  };
  return messages.map((message) => ({ ...message, parts: message.parts.map(named) }));
};

/** How many messages at the beginning are those of an earlier conversation. */
export const sharedWith = (raw: readonly unknown[], earlier: readonly unknown[]): number => {
  let shared = 0;
  while (shared < raw.length && shared < earlier.length && sameMessage(raw[shared], earlier[shared]))
    shared++;
  return shared;
};
