import { type CallFile, filesIn, soundOf, toFile } from './files.ts';
import { asString, isObject, jsonIn } from './values.ts';

/** A part of a message. */
export type ContentPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'file'; readonly file: CallFile }
  | { readonly kind: 'call'; readonly name: string; readonly id: string | undefined; readonly input: unknown }
  | {
      readonly kind: 'result';
      readonly id: string | undefined;
      /** The tool's name, if the call that asked for it is known. */
      readonly name?: string;
      /** The file that the call named, if it did. */
      readonly path?: string;
      readonly output: unknown;
    }
  | { readonly kind: 'other'; readonly value: unknown };

/** A message of a conversation, whichever provider's shape it came in. */
export interface Message {
  readonly role: string;
  readonly name?: string;
  readonly parts: readonly ContentPart[];
}

type Fields = Readonly<Record<string, unknown>>;

/** What a call took and gave. */
interface CallContent {
  readonly inputs: unknown;
  readonly output: unknown;
}

/** Arguments of tools often come as JSON within a text. A text that looks like a number stays. */
const parsed = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  const read = jsonIn(value);
  return read === undefined ? value : read;
};

const callPart = (name: unknown, id: unknown, input: unknown): ContentPart => ({
  kind: 'call',
  name: asString(name) ?? 'tool',
  id: asString(id),
  input: parsed(input),
});

/** OpenAI's `tool_calls`: `{id, function: {name, arguments}}`, or the same without `function`. */
const toolCallPart = (value: unknown): ContentPart => {
  if (!isObject(value)) return { kind: 'other', value };
  const call = isObject(value.function) ? value.function : value;
  return callPart(call.name, value.id, call.arguments ?? call.args ?? call.input);
};

/** The texts of a list, or the list if it has anything else. */
const joined = (list: readonly unknown[], between = '\n\n'): unknown => {
  const texts = list.map((item) => (isObject(item) ? asString(item.text) : undefined));
  return texts.every((text) => text !== undefined) ? texts.join(between) : list;
};

/** The text of a result that is a list of texts, as Anthropic and Bedrock have it. */
const listedText = (value: unknown): unknown => {
  if (!Array.isArray(value) || value.length === 0) return value;
  const [only] = value;
  if (value.length === 1 && isObject(only) && only.json !== undefined) return only.json;
  return joined(value, '\n');
};

/** Results often are JSON within a text, or texts in a list. */
const resultPart = (id: unknown, output: unknown): ContentPart => ({
  kind: 'result',
  id: asString(id),
  output: parsed(listedText(output)),
});

/** The image of a part: OpenAI's `image_url`, OpenInference's `image`, Anthropic's and Bedrock's `source`. */
const imageUrl = (part: Fields): string | undefined => {
  const { image_url: image, source } = part;
  if (typeof image === 'string') return image;
  if (isObject(image)) return asString(image.url);
  if (isObject(part.image)) return asString((isObject(part.image.image) ? part.image.image : part.image).url);
  if (!isObject(source)) return undefined;
  const data = asString(source.data) ?? asString(source.bytes);
  const type = asString(source.media_type) ?? `image/${asString(part.format) ?? 'png'}`;
  return asString(source.url) ?? (data && `data:${type};base64,${data}`);
};

/** OpenTelemetry's `blob` and `uri`, if they are images. */
const mediaUrl = ({ modality, mime_type, content, uri }: Fields): string | undefined => {
  const type = asString(mime_type) ?? 'image/png';
  if (modality !== 'image' && !(modality === undefined && type.startsWith('image/'))) return undefined;
  const data = asString(content);
  return asString(uri) ?? (data && `data:${type};base64,${data}`);
};

const imagePart = (url: string | undefined): ContentPart | undefined =>
  url === undefined ? undefined : { kind: 'image', url };

/** What was thought, as a text or as texts in a list. Without words if they are encrypted. */
const thinkingPart = (...values: readonly unknown[]): ContentPart => {
  const texts = values.map((value) => asString(Array.isArray(value) ? joined(value) : value));
  return { kind: 'thinking', text: texts.find((text) => text) ?? '' };
};

/** Parts that say what they are by their `type`: OpenAI, Anthropic, OpenTelemetry. */
const typedPart = (part: Fields): ContentPart | undefined => {
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return { kind: 'text', text: asString(part.text ?? part.content ?? part.refusal) ?? '' };
    case 'thinking':
    case 'reasoning':
      return thinkingPart(part.thinking, part.content, part.text, part.summary);
    case 'image':
    case 'image_url':
    case 'input_image':
      return imagePart(imageUrl(part));
    case 'blob':
    case 'uri':
      return imagePart(mediaUrl(part));
    case 'tool_use':
    case 'tool_call':
    case 'function_call':
    case 'custom_tool_call':
      return callPart(part.name, part.call_id ?? part.id, part.input ?? part.arguments);
    case 'tool_result':
    case 'tool_call_response':
    case 'function_call_output':
    case 'custom_tool_call_output':
      return resultPart(
        part.tool_use_id ?? part.call_id ?? part.id,
        part.content ?? part.output ?? part.response ?? part.result,
      );
    default:
      return undefined;
  }
};

/** Bedrock's parts, which say what they are by their only key. */
const bedrockPart = (part: Fields): ContentPart | undefined => {
  const { text, toolUse, toolResult, image, reasoningContent: thought } = part;
  if (typeof text === 'string') return { kind: 'text', text };
  if (isObject(toolUse)) return callPart(toolUse.name, toolUse.toolUseId, toolUse.input);
  if (isObject(toolResult)) return resultPart(toolResult.toolUseId, toolResult.content);
  if (isObject(thought) && isObject(thought.reasoningText)) return thinkingPart(thought.reasoningText.text);
  return isObject(image) ? imagePart(imageUrl(image)) : undefined;
};

/** A file as a part. An image with its bytes is one. */
const filePart = (file: CallFile | undefined): ContentPart | undefined => {
  if (!file) return undefined;
  const { source, type = '' } = file;
  return source.in === 'call' && type.startsWith('image/')
    ? { kind: 'image', url: `data:${type};base64,${source.base64}` }
    : { kind: 'file', file };
};

/** The files that the fields of a value are, as parts. */
export const fileParts = (value: unknown): ContentPart[] =>
  filesIn(value).flatMap((file) => filePart(file) ?? []);

const toPart = (value: unknown): ContentPart => {
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (!isObject(value)) return { kind: 'other', value };
  return typedPart(value) ?? bedrockPart(value) ?? filePart(toFile(value)) ?? { kind: 'other', value };
};

const contentParts = (content: unknown): ContentPart[] => {
  if (content === null || content === undefined || content === '') return [];
  return Array.isArray(content) ? content.map(toPart) : [toPart(content)];
};

/** OpenAI's message of role `tool`: all of it is the result of one call. */
const toolResultParts = (message: Fields): ContentPart[] => [
  resultPart(message.tool_call_id, message.content),
];

/** What OpenAI and those who follow it keep beside the content, in the order of a reader. */
const getParts = (message: Fields): ContentPart[] => {
  const { content, tool_calls: calls, function_call: call, refusal } = message;
  const thought = asString(message.reasoning_content) || asString(message.reasoning);
  return [
    ...(thought ? [thinkingPart(thought)] : []),
    ...contentParts(message.parts ?? content),
    ...contentParts(asString(refusal)),
    ...[filePart(soundOf(message))].filter((part) => part !== undefined),
    ...(Array.isArray(calls) ? calls.map(toolCallPart) : []),
    ...(isObject(call) ? [toolCallPart(call)] : []),
  ];
};

/** A message with no other fields is empty. */
const aside = new Set(['role', 'name', 'content', 'parts', 'id', 'type', 'status', 'finish_reason']);

const isBlank = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** Whether a message without parts says something nevertheless, in fields of its own. */
const saysMore = (message: Fields): boolean =>
  (message.content === undefined && message.parts === undefined) ||
  Object.entries(message).some(([name, value]) => !aside.has(name) && !isBlank(value));

/** An item of OpenAI's responses, which has no role. All calls of tools are the assistant's. */
const toItem = (item: Fields, role: string): Message | undefined => {
  const isCall = /_call$/.test(asString(item.type) ?? '');
  const part: ContentPart | undefined =
    typedPart(item) ?? (isCall ? { kind: 'other', value: item } : undefined);
  if (!part) return undefined;
  if (part.kind === 'result') return { role: 'tool', parts: [part] };
  const isAssistant = isCall || part.kind === 'call' || part.kind === 'thinking';
  return { role: isAssistant ? 'assistant' : role, parts: [part] };
};

/** Who says LangChain's messages, by their type. */
const langChainRoles: ReadonlyMap<string, string> = new Map([
  ['human', 'user'],
  ['ai', 'assistant'],
  ['system', 'system'],
  ['tool', 'tool'],
]);

/** LangChain's message as one with a role: it is dumped alone, beside its type, or beside its class. */
const withRole = (value: Fields): Fields => {
  const { type, data, kwargs, id, role: own } = value;
  if (own !== undefined) return value;
  const inner = isObject(data) ? data : isObject(kwargs) ? kwargs : value;
  const name = inner === kwargs && Array.isArray(id) ? asString(id.at(-1)) : asString(type);
  const role = langChainRoles.get((name ?? '').replace(/Message(?:Chunk)?$/, '').toLowerCase());
  return role === undefined ? value : { ...inner, role };
};

/**
 * Reads a message in the shape of OpenAI's chat and responses, Anthropic, Bedrock's Converse, LangChain
 * or OpenTelemetry. What is in none of them is kept as data.
 *
 * @param role the role if the message has none
 */
export const parseMessage = (source: unknown, role = 'user'): Message => {
  if (typeof source === 'string') return { role, parts: [{ kind: 'text', text: source }] };
  if (!isObject(source)) return { role, parts: [{ kind: 'other', value: source }] };
  const value = withRole(source);
  const own = asString(value.role);
  const name = asString(value.name);
  const item = own === undefined ? toItem(value, role) : undefined;
  if (item) return item;
  const isToolResult = own === 'tool' && !Array.isArray(value.parts);
  const parts = isToolResult ? toolResultParts(value) : getParts(value);
  const all: readonly ContentPart[] =
    parts.length === 0 && saysMore(value) ? [{ kind: 'other', value }] : parts;
  // Anthropic and Bedrock send results in the user's name.
  const isResults = own === 'user' && all.length > 0 && all.every(({ kind }) => kind === 'result');
  return {
    role: isResults ? 'tool' : (own ?? role),
    ...(name !== undefined && { name }),
    parts: all,
  };
};

/** Whether two messages are the same, whatever is nested in them. */
const sameMessage = (one: unknown, other: unknown): boolean => {
  if (one === other) return true;
  try {
    return JSON.stringify(one) === JSON.stringify(other);
  } catch {
    return false;
  }
};

/** The messages of a model call. */
export interface Conversation {
  /** What was sent, as it came: compared with what an earlier call sent. */
  readonly raw: readonly unknown[];
  readonly sent: readonly Message[];
  readonly received: readonly Message[];
}

const toList = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) && value.length > 0 ? value : undefined;

/** A list of messages looks like one: texts do not make a conversation. */
const isConversation = (list: readonly unknown[]): boolean =>
  list.every((item) => isObject(item) && ('role' in withRole(item) || typeof item.type === 'string'));

/** The system prompt that Anthropic, Bedrock and OpenAI's responses keep apart. */
const getSystem = (inputs: Readonly<Record<string, unknown>>): unknown[] => {
  const content = inputs.system ?? inputs.instructions ?? inputs.system_instructions;
  return content === undefined || content === null || content === '' ? [] : [{ role: 'system', content }];
};

const getSent = (inputs: unknown): readonly unknown[] | undefined => {
  if (!isObject(inputs)) return undefined;
  const { input, prompt } = inputs;
  const list = toList(inputs.messages) ?? toList(input);
  if (list && isConversation(list)) return [...getSystem(inputs), ...list];
  // OpenAI's responses and completions take a text, too. Other calls have an `input` of any kind.
  const text = typeof input === 'string' ? input : prompt;
  return typeof text === 'string' && typeof inputs.model === 'string'
    ? [...getSystem(inputs), { role: 'user', content: text }]
    : undefined;
};

/** The messages of an answer, in any provider's shape. */
const getReceived = (output: unknown): readonly unknown[] => {
  if (typeof output === 'string') return [{ role: 'assistant', content: output }];
  if (Array.isArray(output)) {
    const [only] = output;
    // What a node of LangGraph gave is what changes in the state.
    if (output.length === 1 && isObject(only) && isObject(only.update)) return getReceived(only.update);
    return isConversation(output) ? output : [];
  }
  if (!isObject(output)) return [];
  const { choices, message, content, messages, output: inner } = output;
  if (Array.isArray(choices))
    return choices.map((choice) => (isObject(choice) ? (choice.message ?? choice.text ?? choice) : choice));
  if (toList(messages)) return messages as unknown[];
  if (isObject(message)) return [message];
  if (Array.isArray(inner)) return inner;
  if (isObject(inner) && isObject(inner.message)) return [inner.message];
  if (content !== undefined) return [{ role: 'assistant', ...output }];
  return [];
};

/** An agent may give the whole conversation: its answer is what comes after its user's last words. */
const afterUser = (messages: readonly Message[]): readonly Message[] => {
  const answer = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  return answer.length > 0 ? answer : messages;
};

/** Reads the conversation of a call; undefined if it has none. */
export const parseConversation = ({ inputs, output }: CallContent): Conversation | undefined => {
  const raw = getSent(inputs);
  if (!raw) return undefined;
  return {
    raw,
    sent: withToolNames(raw.map((message) => parseMessage(message))),
    received: afterUser(
      withToolNames(getReceived(output).map((message) => parseMessage(message, 'assistant'))),
    ),
  };
};

/** The messages that a call gave, if it says that they are messages; undefined otherwise. */
export const answeredIn = (output: unknown): readonly Message[] | undefined => {
  const list = isObject(output) ? toList(output.messages) : undefined;
  return list && withToolNames(list.map((message) => parseMessage(message, 'assistant')));
};

const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (isObject(value) && Object.keys(value).length === 0);

/** What a tool took and what it gave, as parts of messages; without what is empty. */
export const toolParts = (
  name: string,
  { inputs, output }: { readonly inputs: unknown; readonly output: unknown },
): { readonly took: ContentPart[]; readonly gave: ContentPart[] } => {
  const path = filePath(inputs);
  return {
    took: isNothing(inputs) ? [] : [callPart(name, undefined, inputs), ...fileParts(inputs)],
    gave: isNothing(output)
      ? []
      : [{ ...resultPart(undefined, output), ...(path !== undefined && { path }) }, ...fileParts(output)],
  };
};

/** The file that the arguments of a tool name; undefined for none. */
export const filePath = (input: unknown): string | undefined =>
  isObject(input) ? asString(input.file_path ?? input.notebook_path ?? input.path) : undefined;

/** Gives every result the name of the tool and its file, by the id of the call that asked for it. */
const withToolNames = (messages: readonly Message[]): Message[] => {
  const calls = new Map<string, Extract<ContentPart, { kind: 'call' }>>();
  const named = (part: ContentPart): ContentPart => {
    if (part.kind === 'call' && part.id !== undefined) calls.set(part.id, part);
    if (part.kind !== 'result' || part.id === undefined) return part;
    const call = calls.get(part.id);
    const path = call && filePath(call.input);
    return call ? { ...part, name: call.name, ...(path !== undefined && { path }) } : part;
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

const textsIn = ({ parts }: Message): string =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text.trim()] : [])).join('\n');

/** As `sharedWith`, with the answer to the earlier conversation if the later one goes on from it. */
export const sharedWithTurn = ({ raw, sent }: Conversation, earlier: Conversation): number => {
  const shared = sharedWith(raw, earlier.raw);
  const next = sent[shared];
  const answer = earlier.received[0];
  const goesOn = shared === earlier.raw.length && next && answer && next.role === 'assistant';
  return goesOn && textsIn(next) !== '' && textsIn(next) === textsIn(answer) ? shared + 1 : shared;
};
