import {
  answeredIn,
  type ContentPart,
  fileParts,
  type Message,
  parseConversation,
  parseMessage,
} from '../../../api/shared/conversation.ts';
import { toFile } from '../../../api/shared/files.ts';
import type { Call } from '../../api/contract.ts';
import { isObject } from '../../data/values.ts';

/** What was asked and answered in a turn. */
interface Exchange {
  readonly asked: readonly Message[];
  readonly answered: readonly Message[];
}

/** The names under which agents keep what somebody said, the likeliest first. */
const askedNames = ['message', 'question', 'query', 'input', 'prompt', 'text', 'content', 'user_input'];
const answeredNames = ['answer', 'output', 'response', 'result', 'text', 'content', 'message', 'reply'];

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (isObject(value) && Object.keys(value).length === 0);

/** The text in a value: itself, that under a usual name, or its only text. */
const textIn = (value: unknown, names: readonly string[]): string | undefined => {
  if (typeof value === 'string') return value;
  if (!isObject(value)) return undefined;
  for (const name of names) {
    const found = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof found === 'string') return found;
  }
  const { args, kwargs } = value;
  // A function of Python that was traced whole.
  if (
    Array.isArray(args) &&
    args.length > 0 &&
    isEmpty(kwargs) &&
    args.every((arg) => typeof arg === 'string')
  )
    return args.join('\n');
  const [only, ...others] = Object.values(value);
  return others.length === 0 && typeof only === 'string' ? only : undefined;
};

/** A value without a known shape is shown as data. */
const toMessages = (role: string, value: unknown, names: readonly string[]): Message[] => {
  if (isEmpty(value)) return [];
  const text = textIn(value, names);
  const files = fileParts(value);
  if (text !== undefined && files.length === 0) return [{ role, parts: [{ kind: 'text', text }] }];
  if (isObject(value) && 'role' in value) return [parseMessage(value, role)];
  const said: ContentPart = text === undefined ? { kind: 'other', value } : { kind: 'text', text };
  // A value that is a file itself says nothing else.
  const isFile = files.length === 1 && toFile(value) !== undefined;
  return [{ role, parts: isFile ? files : [said, ...files] }];
};

/** What is new: all that comes after the last answer, which an earlier turn has shown. */
const fresh = (messages: readonly Message[]): readonly Message[] => {
  const last = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'model');
  return messages.slice(last + 1).filter(({ role }) => role !== 'system' && role !== 'developer');
};

/** Reads what was asked and answered in a turn, whatever shape its inputs and output have. */
export const parseExchange = ({ inputs, output }: Pick<Call, 'inputs' | 'output'>): Exchange => {
  const conversation = parseConversation({ inputs, output });
  if (!conversation) {
    // The model's name alone is nothing that somebody said.
    const { model: _, ...fields } = inputs;
    return {
      asked: isEmpty(fields) ? [] : toMessages('user', inputs, askedNames),
      answered: answeredIn(output) ?? toMessages('assistant', output, answeredNames),
    };
  }
  const { sent, received } = conversation;
  return {
    asked: fresh(sent),
    answered: received.length > 0 ? received : toMessages('assistant', output, answeredNames),
  };
};
