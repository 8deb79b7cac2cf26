import { asText, type Dict, first, get, isDict, structured, textOf } from '../plain.ts';
import { type Part, type ToolCall, toParts, toToolCall, unpackBlocks } from './parts.ts';

/** A message of a conversation, as chat completions have it. */
export interface Message {
  readonly role: string;
  /** Text, or a list of parts when there is more than one text or other content than text. */
  readonly content: unknown;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly finish_reason?: string;
}

const roles: Readonly<Record<string, string>> = {
  human: 'user',
  ai: 'assistant',
  model: 'assistant',
  AIMessageChunk: 'assistant',
  function: 'tool',
  developer: 'system',
};

/** Classes of LangChain's messages, by the end of the serialized name. */
const classes: readonly (readonly [RegExp, string])[] = [
  [/^Human/, 'user'],
  [/^AI/, 'assistant'],
  [/^System/, 'system'],
  [/^(Tool|Function)/, 'tool'],
];

const roleOf = (value: unknown, fallback: string): string => {
  const role = first(value, 'role');
  const type = first(value, 'type');
  const named = typeof role === 'string' && role !== '' ? role : type;
  // A type is a role only in LangChain's messages.
  if (typeof named !== 'string') return fallback;
  if (named === role) return Object.hasOwn(roles, named) ? (roles[named] ?? named) : named;
  return /^(human|ai|system|tool|function|AIMessageChunk)$/.test(named) ? (roles[named] ?? named) : fallback;
};

/** LangChain's serialized messages: `{lc, id, kwargs}`, or `{type, data}`. */
const unwrapped = (value: unknown): unknown => {
  const kwargs = get(value, 'kwargs');
  const id = get(value, 'id');
  if (isDict(kwargs) && Array.isArray(id)) {
    const name = id.at(-1);
    const role = typeof name === 'string' ? classes.find(([test]) => test.test(name))?.[1] : undefined;
    return { ...kwargs, ...(role !== undefined && { role }) };
  }
  const data = get(value, 'data');
  if (isDict(data) && typeof get(value, 'type') === 'string') return { type: get(value, 'type'), ...data };
  const message = get(value, 'message');
  return isDict(message) ? unwrapped({ ...message, ...finishReason(value) }) : value;
};

const finishReason = (value: unknown): { finish_reason?: string } => {
  const reason = first(value, 'finish_reason', 'finishReason');
  return typeof reason === 'string' ? { finish_reason: reason } : {};
};

const contentOf = (parts: readonly Part[]): unknown => {
  const shown = parts.filter((part) => 'text' in part || 'other' in part);
  const [only] = shown;
  if (only === undefined) return null;
  if (shown.length === 1 && 'text' in only) return only.text;
  return shown.map((part) => ('text' in part ? { type: 'text', text: part.text } : part.other));
};

const calls = (value: unknown): readonly ToolCall[] => {
  const listed = structured(first(value, 'tool_calls', 'toolCalls'));
  const extra = structured(first(get(value, 'additional_kwargs'), 'tool_calls'));
  const list = [listed, extra].find((item) => Array.isArray(item) && item.length > 0);
  if (Array.isArray(list)) return list.map(toToolCall);
  const one = structured(first(value, 'function_call'));
  const name = first(value, 'function_call_name');
  if (isDict(one)) return [toToolCall(one)];
  return name === undefined
    ? []
    : [toToolCall({ name, arguments: first(value, 'function_call_arguments_json') })];
};

/** Fields that are read, and those that the call has elsewhere. All others are carried along. */
const readFields: ReadonlySet<string> = new Set([
  ...['role', 'type', 'parts', 'contents', 'blocks', 'content', 'text', 'name', 'refusal', 'reasoning'],
  ...['tool_calls', 'toolCalls', 'function_call', 'function_call_name', 'function_call_arguments_json'],
  ...['tool_call_id', 'toolCallId', 'finish_reason', 'finishReason', 'reasoning_content'],
  ...['additional_kwargs', 'response_metadata', 'usage_metadata', 'usage', 'id', 'model', 'object'],
]);

const says = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !/^(\[\]|\{\})$/.test(asText(value));

/** What else a message says, under the names that it has there. */
const others = (source: Dict): Dict =>
  Object.fromEntries(Object.entries(source).filter(([name, value]) => !readFields.has(name) && says(value)));

/** What OpenAI and its followers have in fields of their own, as parts around the content. */
const around = (source: unknown): { readonly before: readonly Part[]; readonly after: readonly Part[] } => {
  const more = get(source, 'additional_kwargs');
  const [reasoning, refusal] = [['reasoning_content', 'reasoning'], ['refusal']].map((names) =>
    textOf(first(source, ...names) ?? first(more, ...names)),
  );
  return {
    before: reasoning === undefined ? [] : [{ other: { type: 'reasoning', text: reasoning } }],
    after: refusal === undefined ? [] : [{ other: { type: 'refusal', refusal } }],
  };
};

/**
 * A message in whatever dialect. One that holds several results of tools becomes as many messages.
 *
 * @param fallback the role of a message that names none
 */
export const toMessages = (value: unknown, fallback: string): readonly Message[] => {
  if (typeof value === 'string') return [{ role: fallback, content: value }];
  // LangChain's short form.
  if (Array.isArray(value) && value.length === 2 && typeof value[0] === 'string')
    return toMessages({ role: value[0], content: value[1] }, fallback);
  const source = unwrapped(value);
  if (!isDict(source)) return [{ role: fallback, content: asText(source) }];
  const body = first(source, 'parts', 'contents', 'blocks') ?? first(source, 'content', 'text');
  const item = itemPart(source);
  const parts = item ?? toParts(unpackBlocks(body));
  const role = roleOf(source, fallback);
  const results = parts.flatMap((part) => ('result' in part ? [part.result] : []));
  const made = [...parts.flatMap((part) => ('call' in part ? [part.call] : []))];
  const toolCalls = made.length > 0 ? made : calls(source);
  const { before, after } = around(source);
  const rest = [...before, ...parts.filter((part) => !('result' in part)), ...after];
  const messages: Message[] = results.map(({ id, name, content }) => ({
    role: 'tool',
    content,
    ...(id !== undefined && { tool_call_id: id }),
    ...(name !== undefined && { name }),
  }));
  if (results.length > 0 && contentOf(rest) === null && toolCalls.length === 0)
    return withId(messages, source);
  const id = textOf(first(source, 'tool_call_id', 'toolCallId'));
  const name = textOf(first(source, 'name'));
  const own: Message = {
    ...(item === undefined && others(source)),
    role,
    content: contentOf(rest),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...(id !== undefined && role === 'tool' && { tool_call_id: id }),
    ...(name !== undefined && item === undefined && { name }),
    ...finishReason(source),
  };
  return [...messages, own];
};

/** A single result takes its id from the message when the part has none. */
const withId = (messages: readonly Message[], source: unknown): readonly Message[] => {
  const id = textOf(first(source, 'tool_call_id', 'toolCallId', 'id'));
  const [only] = messages;
  return messages.length === 1 && only && only.tool_call_id === undefined && id !== undefined
    ? [{ ...only, tool_call_id: id }]
    : messages;
};

/** An item of the Responses API that is a call or a result itself. */
const itemPart = (source: unknown): readonly Part[] | undefined => {
  const type = get(source, 'type');
  return type === 'function_call' || type === 'function_call_output' ? toParts(source) : undefined;
};
