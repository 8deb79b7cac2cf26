import { nonEmptyString } from '../../../../foundations/wire/index.ts';
import { asText, type Dict, first, get, isDict, structured } from '../values.ts';

/** A model's request to call a tool, as OpenAI writes it. */
export interface ToolCall {
  readonly id?: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What a message says besides text: a call of a tool, its result, or content of another kind. */
type ContentPart =
  | { readonly text: string }
  | { readonly call: ToolCall }
  | {
      readonly result: {
        readonly id: string | undefined;
        readonly name: string | undefined;
        readonly content: string;
      };
    }
  | { readonly other: unknown };

const toolCall = (id: unknown, name: unknown, args: unknown): ToolCall => ({
  ...(nonEmptyString(id) !== undefined && { id: nonEmptyString(id) ?? '' }),
  type: 'function',
  function: { name: nonEmptyString(name) ?? '', arguments: args === undefined ? '' : asText(args) },
});

/** A tool call in whatever dialect: nested under `function` or flat, wrapped or not. */
const toToolCall = (value: unknown): ToolCall => {
  const call = first(value, 'tool_call') ?? value;
  const fn = first(call, 'function');
  return toolCall(
    first(call, 'id', 'call_id', 'toolCallId', 'tool_call_id', 'toolUseId', 'ref'),
    first(fn, 'name') ?? first(call, 'name', 'toolName', 'tool_name'),
    first(fn, 'arguments') ?? first(call, 'arguments', 'args', 'input', 'tool_kwargs'),
  );
};

/** Texts of a list of blocks, if it is nothing but texts: how Bedrock and MCP write results. */
const joinedTexts = (value: unknown): string | undefined => {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const texts = value.map((item) => {
    const text = isDict(item) ? (first(item, 'text') ?? first(item, 'content')) : item;
    return typeof text === 'string' ? text : undefined;
  });
  return texts.every((text) => text !== undefined) ? texts.join('\n') : undefined;
};

/** A tool's result as text. The AI SDK wraps it as `{type, value}`. */
export const resultText = (value: unknown): string => {
  const type = get(value, 'type');
  const inner =
    typeof type === 'string' && /^(text|json|error-text|error-json|content)$/.test(type)
      ? (first(value, 'value', 'text') ?? value)
      : value;
  return joinedTexts(inner) ?? asText(inner ?? '');
};

const toolResult = (id: unknown, name: unknown, content: unknown): ContentPart => ({
  result: { id: nonEmptyString(id), name: nonEmptyString(name), content: resultText(content) },
});

type PartReader = (part: Dict) => ContentPart | undefined;

/** Parts that name their type: OpenAI, OpenTelemetry, Anthropic, the AI SDK, the Responses API. */
const typed: Readonly<Record<string, PartReader>> = {
  text: (part) => textPart(first(part, 'text', 'content')),
  input_text: (part) => textPart(get(part, 'text')),
  output_text: (part) => textPart(get(part, 'text')),
  tool_call: (part) => ({ call: toToolCall(part) }),
  'tool-call': (part) => ({ call: toToolCall(part) }),
  tool_use: (part) => ({ call: toToolCall(part) }),
  function_call: (part) => ({ call: toToolCall(part) }),
  function: (part) => ({ call: toToolCall(part) }),
  tool_call_response: (part) =>
    toolResult(get(part, 'id'), get(part, 'name'), first(part, 'response', 'result', 'content')),
  'tool-result': (part) =>
    toolResult(get(part, 'toolCallId'), get(part, 'toolName'), first(part, 'output', 'result')),
  tool_result: (part) => toolResult(first(part, 'tool_use_id', 'id'), undefined, get(part, 'content')),
  function_call_output: (part) => toolResult(get(part, 'call_id'), undefined, get(part, 'output')),
};

/** Parts that are known by their one field: Gemini, Bedrock, Genkit. */
const keyed: Readonly<Record<string, (inner: unknown) => ContentPart | undefined>> = {
  function_call: (inner) => ({ call: toToolCall(inner) }),
  functionCall: (inner) => ({ call: toToolCall(inner) }),
  tool_call: (inner) => ({ call: toToolCall(inner) }),
  tool_call_result: (inner) => {
    const origin = get(inner, 'origin');
    return toolResult(get(origin, 'id'), get(origin, 'tool_name'), get(inner, 'result'));
  },
  toolUse: (inner) => ({ call: toToolCall(inner) }),
  toolRequest: (inner) => ({ call: toToolCall(inner) }),
  function_response: (inner) => toolResult(get(inner, 'id'), get(inner, 'name'), getResponse(inner)),
  functionResponse: (inner) => toolResult(get(inner, 'id'), get(inner, 'name'), getResponse(inner)),
  toolResult: (inner) => toolResult(get(inner, 'toolUseId'), undefined, bedrockResult(inner)),
  toolResponse: (inner) => toolResult(get(inner, 'ref'), get(inner, 'name'), get(inner, 'output')),
};

const textPart = (text: unknown): ContentPart | undefined =>
  typeof text === 'string' ? { text } : undefined;

const getResponse = (inner: unknown): unknown => first(inner, 'response', 'output');

/** Bedrock's results are blocks of text or JSON. */
const bedrockResult = (inner: unknown): unknown => {
  const content = get(inner, 'content');
  if (!Array.isArray(content)) return content;
  return content.map((block) => get(block, 'json') ?? block);
};

/** A part that OpenInference wraps, with what stands beside the wrapper, such as a tool call. */
const unwrappedPart = (value: unknown): unknown => {
  const inner = first(value, 'message_content');
  if (!isDict(value) || !isDict(inner)) return inner ?? value;
  const { message_content: _, ...beside } = value;
  return { ...beside, ...inner };
};

/** Whether a text names its sources, as OpenAI's and Anthropic's do. Such a part stays whole. */
const isCited = (part: Dict): boolean =>
  [get(part, 'annotations'), get(part, 'citations')].some((list) => Array.isArray(list) && list.length > 0);

/** A part of a message in whatever dialect. What is not understood stays as it is. */
const toPart = (value: unknown): ContentPart => {
  if (typeof value === 'string') return { text: value };
  const part = unwrappedPart(value);
  if (!isDict(part)) return { other: part };
  const type = first(part, 'type', 'kind', 'block_type');
  if (isCited(part)) return { other: part };
  const reader = typeof type === 'string' && Object.hasOwn(typed, type) ? typed[type] : undefined;
  const read = reader?.(part);
  if (read) return read;
  if (type === undefined || type === 'text') {
    for (const key of Object.keys(part)) {
      const inner = get(part, key);
      const known = Object.hasOwn(keyed, key) && isDict(inner) ? keyed[key]?.(inner) : undefined;
      if (known) return known;
    }
    const text = textPart(get(part, 'text'));
    // A thought that Gemini marks is no text of the answer.
    if (text && get(part, 'thought') !== true) return text;
  }
  return { other: part };
};

/** The parts of a message's content, which may be text, JSON text of a list of parts, or a list. */
const toParts = (content: unknown): readonly ContentPart[] => {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ text: content }];
  return Array.isArray(content) ? content.map(toPart) : [toPart(content)];
};

/**
 * Content that is JSON text of a list of typed blocks, as Strands and others send it, unpacked. A
 * text that only happens to be JSON stays text.
 */
const unpackBlocks = (content: unknown): unknown => {
  if (typeof content !== 'string' || !content.startsWith('[')) return content;
  const blocks = structured(content);
  if (!Array.isArray(blocks) || blocks.length === 0) return content;
  const known = blocks.every((block) => isDict(block) && !('other' in toPart(block)));
  return known ? blocks : content;
};

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

const getRole = (value: unknown, fallback: string): string => {
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

const joinContent = (parts: readonly ContentPart[]): unknown => {
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
  'role',
  'type',
  'parts',
  'contents',
  'blocks',
  'content',
  'text',
  'name',
  'refusal',
  'reasoning',
  'tool_calls',
  'toolCalls',
  'function_call',
  'function_call_name',
  'function_call_arguments_json',
  'tool_call_id',
  'toolCallId',
  'finish_reason',
  'finishReason',
  'reasoning_content',
  'additional_kwargs',
  'response_metadata',
  'usage_metadata',
  'usage',
  'id',
  'model',
  'object',
]);

const hasValue = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !/^(\[\]|\{\})$/.test(asText(value));

/** The other fields of a message, under the names that they have there. */
const others = (source: Dict): Dict =>
  Object.fromEntries(
    Object.entries(source).filter(([name, value]) => !readFields.has(name) && hasValue(value)),
  );

/** What OpenAI and its followers have in fields of their own, as parts around the content. */
const around = (
  source: unknown,
): { readonly before: readonly ContentPart[]; readonly after: readonly ContentPart[] } => {
  const more = get(source, 'additional_kwargs');
  const [reasoning, refusal] = [['reasoning_content', 'reasoning'], ['refusal']].map((names) =>
    nonEmptyString(first(source, ...names) ?? first(more, ...names)),
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
  const role = getRole(source, fallback);
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
  if (results.length > 0 && joinContent(rest) === null && toolCalls.length === 0)
    return withId(messages, source);
  const id = nonEmptyString(first(source, 'tool_call_id', 'toolCallId'));
  const name = nonEmptyString(first(source, 'name'));
  const own: Message = {
    ...(item === undefined && others(source)),
    role,
    content: joinContent(rest),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...(id !== undefined && role === 'tool' && { tool_call_id: id }),
    ...(name !== undefined && item === undefined && { name }),
    ...finishReason(source),
  };
  return [...messages, own];
};

/** A single result takes its id from the message when the part has none. */
const withId = (messages: readonly Message[], source: unknown): readonly Message[] => {
  const id = nonEmptyString(first(source, 'tool_call_id', 'toolCallId', 'id'));
  const [only] = messages;
  return messages.length === 1 && only && only.tool_call_id === undefined && id !== undefined
    ? [{ ...only, tool_call_id: id }]
    : messages;
};

/** An item of the Responses API that is a call or a result itself. */
const itemPart = (source: unknown): readonly ContentPart[] | undefined => {
  const type = get(source, 'type');
  return type === 'function_call' || type === 'function_call_output' ? toParts(source) : undefined;
};
