import type { Call } from './calls.ts';
import { isFields, type Json } from './reply.ts';

/*
 * What somebody said in a call, whatever shape its inputs and output have.
 */

const askedNames = [
  'message',
  'question',
  'query',
  'input',
  'prompt',
  'text',
  'content',
  'user_input',
  'task',
];
const answeredNames = [
  'answer',
  'output',
  'response',
  'result',
  'text',
  'content',
  'message',
  'reply',
  'value',
];

/** The text of a message's content: a text, or the texts of its parts. */
const contentText = (content: Json | undefined): string | undefined => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content))
    return isFields(content) ? contentText(content.text ?? content.content) : undefined;
  const texts = content.flatMap((part) => contentText(part) ?? []);
  return texts.length === 0 ? undefined : texts.join('\n');
};

const isMessage = (value: Json): boolean =>
  isFields(value) && (typeof value.role === 'string' || typeof value.type === 'string');

const messagesIn = (value: Json | undefined): readonly Json[] | undefined => {
  const list = isFields(value) ? (value.messages ?? value.input ?? value.contents) : value;
  return Array.isArray(list) && list.some(isMessage) ? list : undefined;
};

const getRole = (message: Json): string => (isFields(message) ? String(message.role ?? message.type) : '');

const isModel = (message: Json): boolean => /^(?:assistant|model|ai)$/.test(getRole(message));
const isSystem = (message: Json): boolean => /^(?:system|developer)$/.test(getRole(message));

const messageText = (message: Json): string | undefined =>
  isFields(message) ? contentText(message.content ?? message.parts ?? message.text) : undefined;

/** The text in a value: itself, that under a usual name, or its only text. */
const textIn = (value: Json | undefined, names: readonly string[]): Json | undefined => {
  if (!isFields(value)) return value ?? undefined;
  for (const name of names) {
    const found = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof found === 'string') return found;
  }
  const all = Object.values(value);
  if (all.length === 1 && typeof all[0] === 'string') return all[0];
  return all.length === 0 ? undefined : value;
};

/** What was asked in a call: what came after the last answer; undefined if nothing was. */
export const askedIn = ({ inputs }: Call): Json | undefined => {
  const messages = messagesIn(inputs);
  if (!messages) return textIn(inputs, askedNames);
  const fresh = messages.slice(messages.findLastIndex(isModel) + 1).filter((message) => !isSystem(message));
  const texts = fresh.flatMap((message) => messageText(message) ?? []);
  return texts.length > 0 ? texts.join('\n\n') : undefined;
};

/** What was answered; undefined if nothing was. */
export const answeredIn = ({ output }: Call): Json | undefined => {
  const choice = isFields(output) && Array.isArray(output.choices) ? output.choices[0] : undefined;
  const message = isFields(choice) ? choice.message : undefined;
  const messages = message === undefined ? messagesIn(output) : [message];
  if (!messages) return textIn(output, answeredNames);
  const texts = messages.filter(isModel).flatMap((message) => messageText(message) ?? []);
  return texts.at(-1) ?? textIn(output, answeredNames);
};

/** What a model was told before anybody said anything: its system prompt; undefined without one. */
export const instructedIn = ({ inputs }: Call): string | undefined => {
  const given = isFields(inputs) ? (inputs.system ?? inputs.instructions) : undefined;
  const texts = [given, ...(messagesIn(inputs) ?? []).filter(isSystem).map(messageText)].flatMap(
    (text) => contentText(text) ?? [],
  );
  return texts.length > 0 ? texts.join('\n\n') : undefined;
};
