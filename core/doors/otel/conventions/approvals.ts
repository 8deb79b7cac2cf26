import { type JsonObject, nonEmptyString } from '../../../../foundations/wire/index.ts';
import { messageList } from '../messages/chat.ts';
import { first, get, structured } from '../values.ts';
import type { Kind, Resume, Wait } from './convention.ts';
import type { SpanReader } from './reader.ts';

/*
 * Requests for an approval, and answers to them, as parts of messages: `tool-approval-request` of the AI
 * SDK, `function_approval_request` of Microsoft's Agent Framework.
 */

const request = /approval[-_]request$/;
const response = /approval[-_]response$/;

const getParts = (message: unknown): readonly unknown[] => {
  const parts = first(message, 'parts', 'content');
  return Array.isArray(parts) ? parts : [];
};

const getType = (part: unknown): string => nonEmptyString(get(part, 'type')) ?? '';

/** The id of the tool's call that a part is about. */
const callIdIn = (part: unknown): string | undefined =>
  nonEmptyString(
    first(first(part, 'function_call', 'toolCall') ?? part, 'call_id', 'toolCallId', 'tool_call_id'),
  );

const isCall = (part: unknown): boolean => /^tool[-_]call$/.test(getType(part));

/** The ids of the tools that a message calls. */
const calledIn = (message: unknown): string[] =>
  getParts(message).flatMap((part) =>
    isCall(part) ? (nonEmptyString(first(part, 'id', 'toolCallId')) ?? []) : [],
  );

const messagesIn = (span: SpanReader, keys: readonly string[], word: string): readonly unknown[] => {
  const text = span.peekText(...keys);
  if (!text?.includes(word)) return [];
  const value = structured(text);
  const list = Array.isArray(value) ? value : get(value, 'messages');
  return Array.isArray(list) ? list : [];
};

/**
 * The question of a run whose last message asks for an approval.
 *
 * @param keys the attributes with messages, the best first
 */
export const approvalAsked = (
  span: SpanReader,
  kind: Kind,
  keys: readonly string[] = ['gen_ai.output.messages'],
): Wait | undefined => {
  if (kind !== 'agent') return undefined;
  const parts = messagesIn(span, keys, 'approval').flatMap(getParts);
  const asked = parts.filter((part) => request.test(getType(part)));
  const ids = asked.flatMap((part) => callIdIn(part) ?? []);
  return asked.length > 0 ? { keys: ids, unique: ids.length > 0 } : undefined;
};

/** A run of the AI SDK that ends with calls of tools: perhaps for an approval, which it does not report. */
export const openCalls = (span: SpanReader, kind: Kind): Wait | undefined => {
  if (kind !== 'agent' || span.span.scope.name !== 'gen_ai') return undefined;
  const ids = messagesIn(span, ['gen_ai.output.messages'], 'tool_call').slice(-1).flatMap(calledIn);
  return ids.length > 0 ? { keys: ids, unique: true, maybe: true } : undefined;
};

/** What the person said to one request: whether the tool may run, and why. */
const readVerdict = (part: unknown): string | undefined => {
  const approved = get(part, 'approved');
  if (typeof approved !== 'boolean') return undefined;
  const name = nonEmptyString(first(first(part, 'function_call', 'toolCall'), 'name', 'toolName'));
  const reason = nonEmptyString(get(part, 'reason'));
  const words = [approved ? 'approved' : 'declined', name].filter(Boolean).join(': ');
  return reason === undefined ? words : `${words} (${reason})`;
};

/** The answer of a person, if the last message of what a run was given has it. */
export const approvalGiven = (
  span: SpanReader,
  kind: Kind,
  keys: readonly string[] = ['gen_ai.input.messages'],
): Resume | undefined => {
  if (kind !== 'agent') return undefined;
  const messages = messagesIn(span, keys, 'approval');
  const answers = getParts(messages.at(-1)).filter((part) => response.test(getType(part)));
  if (answers.length === 0) return undefined;
  const own = answers.flatMap((part) => callIdIn(part) ?? []);
  // The AI SDK says which calls were asked about in the message before alone.
  const ids = own.length > 0 ? own : calledIn(messages.at(-2));
  const verdicts = answers.map(readVerdict);
  const resume = { keys: ids, unique: ids.length > 0 };
  if (verdicts.includes(undefined)) return resume;
  span.value(...keys);
  const content = verdicts.join('\n');
  const before = messageList(messages.slice(0, -1), 'user') ?? [];
  // Messages are JSON.
  const inputs: unknown = { messages: [...before, { role: 'user', content }] };
  return { ...resume, answer: content, inputs: inputs as JsonObject };
};
