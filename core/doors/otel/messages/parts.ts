import { asText, type Dict, first, get, isDict, structured, textOf } from '../plain.ts';

/** A model's request to call a tool, as OpenAI writes it. */
export interface ToolCall {
  readonly id?: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What a message says besides text: a call of a tool, its result, or content of another kind. */
export type Part =
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
  ...(textOf(id) !== undefined && { id: textOf(id) ?? '' }),
  type: 'function',
  function: { name: textOf(name) ?? '', arguments: args === undefined ? '' : asText(args) },
});

/** A tool call in whatever dialect: nested under `function` or flat, wrapped or not. */
export const toToolCall = (value: unknown): ToolCall => {
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

const toolResult = (id: unknown, name: unknown, content: unknown): Part => ({
  result: { id: textOf(id), name: textOf(name), content: resultText(content) },
});

type PartReader = (part: Dict) => Part | undefined;

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
const keyed: Readonly<Record<string, (inner: unknown) => Part | undefined>> = {
  function_call: (inner) => ({ call: toToolCall(inner) }),
  functionCall: (inner) => ({ call: toToolCall(inner) }),
  toolUse: (inner) => ({ call: toToolCall(inner) }),
  toolRequest: (inner) => ({ call: toToolCall(inner) }),
  function_response: (inner) => toolResult(get(inner, 'id'), get(inner, 'name'), responseOf(inner)),
  functionResponse: (inner) => toolResult(get(inner, 'id'), get(inner, 'name'), responseOf(inner)),
  toolResult: (inner) => toolResult(get(inner, 'toolUseId'), undefined, bedrockResult(inner)),
  toolResponse: (inner) => toolResult(get(inner, 'ref'), get(inner, 'name'), get(inner, 'output')),
};

const textPart = (text: unknown): Part | undefined => (typeof text === 'string' ? { text } : undefined);

const responseOf = (inner: unknown): unknown => first(inner, 'response', 'output');

/** Bedrock's results are blocks of text or JSON. */
const bedrockResult = (inner: unknown): unknown => {
  const content = get(inner, 'content');
  if (!Array.isArray(content)) return content;
  return content.map((block) => get(block, 'json') ?? block);
};

/** A part that OpenInference wraps, with what stands beside the wrapper, such as a tool call. */
const unwrapped = (value: unknown): unknown => {
  const inner = first(value, 'message_content');
  if (!isDict(value) || !isDict(inner)) return inner ?? value;
  const { message_content: _, ...beside } = value;
  return { ...beside, ...inner };
};

/** Whether a text names its sources, as OpenAI's and Anthropic's do. Such a part stays whole. */
const isCited = (part: Dict): boolean =>
  [get(part, 'annotations'), get(part, 'citations')].some((list) => Array.isArray(list) && list.length > 0);

/** A part of a message in whatever dialect. What is not understood stays as it is. */
export const toPart = (value: unknown): Part => {
  if (typeof value === 'string') return { text: value };
  const part = unwrapped(value);
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
export const toParts = (content: unknown): readonly Part[] => {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ text: content }];
  return Array.isArray(content) ? content.map(toPart) : [toPart(content)];
};

/**
 * Content that is JSON text of a list of typed blocks, as Strands and others send it, unpacked. A
 * text that only happens to be JSON stays text.
 */
export const unpackBlocks = (content: unknown): unknown => {
  if (typeof content !== 'string' || !content.startsWith('[')) return content;
  const blocks = structured(content);
  if (!Array.isArray(blocks) || blocks.length === 0) return content;
  const known = blocks.every((block) => isDict(block) && !('other' in toPart(block)));
  return known ? blocks : content;
};
