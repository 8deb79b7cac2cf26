import { pack, unpack } from '../../../foundations/encoding/index.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../../foundations/wire/index.ts';

/*
 * What a call was about, in one line each: `input` and `output`. The work is bounded by the line,
 * whatever the length and depth of the values.
 */

/** One line each, as {@link toPreview} makes it; null if there is nothing to show. */
export interface Preview {
  readonly input: string | null;
  readonly output: string | null;
}

/** The most UTF-16 units and UTF-8 bytes of a line, with what marks a cut. */
const maxCharacters = 160;
const maxBytes = 240;
const cutMark = '…';
const maxKept = { characters: maxCharacters - cutMark.length, bytes: maxBytes - Buffer.byteLength(cutMark) };

/** Runs of what is neither white space nor a control character. A longer one comes in several. */
const words = /[^\s\p{Cc}]{1,256}/gu;
/** Made with the first line that needs it: its data takes Node some 10 ms to load. */
let graphemes: Intl.Segmenter | undefined;

/** The first pieces of a text that fit into a line, without the cut's mark. */
const fitting = (pieces: Iterable<string>): string => {
  let kept = '';
  let bytes = 0;
  for (const piece of pieces) {
    bytes += Buffer.byteLength(piece);
    if (kept.length + piece.length > maxKept.characters || bytes > maxKept.bytes) break;
    kept += piece;
  }
  return kept;
};

/** What a reader takes for characters. In printable ASCII each is one. */
const splitCharacters = (line: string): Iterable<string> => {
  if (/^[ -~]*$/.test(line)) return line;
  graphemes ??= new Intl.Segmenter();
  return Iterator.from(graphemes.segment(line)).map(({ segment }) => segment);
};

const shortened = (line: string): string => {
  if (line.length <= maxCharacters && Buffer.byteLength(line) <= maxBytes) return line;
  // A first character with hundreds of marks is cut between two of them.
  return `${(fitting(splitCharacters(line)) || fitting(line)).trimEnd()}${cutMark}`;
};

/**
 * A text in one line: white space and control characters become one space. It reads no more of the
 * text than the line takes.
 *
 * @param pieces the text, cut anywhere but within a character
 * @returns null if the text has no other character
 */
const oneLine = (pieces: Iterable<string>): string | null => {
  let line = '';
  let isApart = false;
  for (const piece of pieces) {
    let end = 0;
    for (const { 0: word, index } of piece.matchAll(words)) {
      line += (isApart || index > end) && line !== '' ? ` ${word}` : word;
      isApart = false;
      end = index + word.length;
      if (line.length > maxCharacters) return shortened(line.toWellFormed());
    }
    isApart ||= end < piece.length;
  }
  return line === '' ? null : shortened(line.toWellFormed());
};

const chunkLength = 256;
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

function* stringPieces(text: string): Generator<string> {
  yield '"';
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + chunkLength, text.length);
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to++;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

/** The text of `JSON.stringify` piece by piece, so that nobody makes what nobody shows. */
function* jsonPieces(value: JsonValue): Generator<string> {
  if (typeof value === 'string') yield* stringPieces(value);
  else if (Array.isArray(value)) {
    yield '[';
    for (const [i, item] of value.entries()) {
      if (i > 0) yield ',';
      yield* jsonPieces(item);
    }
    yield ']';
  } else if (isJsonObject(value)) {
    yield '{';
    for (const [i, key] of Object.keys(value).entries()) {
      if (i > 0) yield ',';
      yield* stringPieces(key);
      yield ':';
      yield* jsonPieces(value[key] ?? null);
    }
    yield '}';
  } else yield JSON.stringify(value);
}

/** The first of the names under which an object has a value. */
const at = (value: JsonValue | undefined, ...names: readonly string[]): JsonValue | undefined => {
  if (!isJsonObject(value)) return undefined;
  for (const name of names) {
    const found = Object.hasOwn(value, name) ? value[name] : undefined;
    if (found !== undefined && found !== null && found !== '') return found;
  }
  return undefined;
};

const isNothing = (value: JsonValue | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (isJsonObject(value) && Object.keys(value).length === 0);

/** Texts in LlamaIndex's messages and events, which come as Python writes them, cut at a length. */
const textBlocks = /TextBlock\(block_type='text', text=(?:'((?:[^'\\]|\\.)*)|"((?:[^"\\]|\\.)*))/gs;
const reprLength = 4096;

/** What was said in a text: the text itself, but of LlamaIndex's messages and events what they hold. */
const saidIn = (text: string): string => {
  if (!/^[A-Z]\w*\(/.test(text)) return text;
  if (/^\w+Event\(\)$/.test(text)) return '';
  const texts = [...text.slice(0, reprLength).matchAll(textBlocks)].map(([, single, double]) =>
    (single ?? double ?? '').replace(/\\(.)/gs, (_, escaped) => (escaped === 'n' ? '\n' : escaped)),
  );
  return texts.length > 0 ? texts.join(' ') : text;
};

/** A text as it is; any other value as compact JSON. */
const plainly = (value: JsonValue | undefined): string | null => {
  if (value === undefined || isNothing(value)) return null;
  return oneLine(typeof value === 'string' ? [saidIn(value)] : jsonPieces(value));
};

// Messages, as the APIs of models, frameworks and this service's own doors write them.

/** Who says a message. Items of the Responses API say it by their type, as LangChain's do. */
const speakers: Readonly<Record<string, 'user' | 'tool' | 'model' | 'other'>> = {
  user: 'user',
  human: 'user',
  tool: 'tool',
  function: 'tool',
  function_call_output: 'tool',
  assistant: 'model',
  ai: 'model',
  model: 'model',
  message: 'model',
  function_call: 'model',
  reasoning: 'model',
  system: 'other',
  developer: 'other',
};

const getSpeaker = (message: JsonValue): string | undefined => {
  const name = at(message, 'role') ?? at(message, 'type');
  if (typeof name !== 'string') return at(message, 'parts') === undefined ? undefined : 'user';
  if (Object.hasOwn(speakers, name)) return speakers[name];
  return at(message, 'role') === undefined ? undefined : 'other';
};

/**
 * LangChain's serialized message is in `data` beside its type, or in `kwargs`, with its type as the last
 * name of its class.
 */
const unwrapped = (message: JsonValue): JsonValue => {
  const data = at(message, 'data');
  if (isJsonObject(data) && getSpeaker(message) !== undefined)
    return { ...data, type: at(message, 'type') ?? null };
  const kwargs = at(message, 'kwargs');
  const id = at(message, 'id');
  if (!isJsonObject(kwargs) || !Array.isArray(id)) return message;
  const type = String(id.at(-1))
    .replace(/Message(?:Chunk)?$/, '')
    .toLowerCase();
  return { type, ...kwargs };
};

const toList = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : []);

/** The messages of a value that is a list of them, or a list with one such list. */
const getMessages = (value: JsonValue | undefined): JsonValue[] | undefined => {
  const whole = toList(value);
  const [first] = whole;
  const list = whole.length === 1 && Array.isArray(first) ? first : whole;
  return list.some((item) => getSpeaker(unwrapped(item)) !== undefined) ? list.map(unwrapped) : undefined;
};

/** How deep a text lies in a message, at most: in a list, a part, the result of a tool, and so on. */
const maxPartDepth = 8;
const thoughts: ReadonlySet<JsonValue | undefined> = new Set([
  'reasoning',
  'thinking',
  'redacted_thinking',
  'summary_text',
]);

/** Whether a message or a part of one is what a tool gave. */
const isResult = (value: JsonObject): boolean =>
  at(value, 'role') === 'tool' || /result|response|output$/.test(String(at(value, 'type') ?? ''));

/** The texts of a message, a part of one, or a list of parts. Thoughts do not count. */
function* textPieces(value: JsonValue | undefined, depth = 0): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value) && depth < maxPartDepth) {
    for (const part of value) {
      yield* textPieces(part, depth + 1);
      yield ' ';
    }
  } else if (isJsonObject(value) && depth < maxPartDepth) {
    if (thoughts.has(at(value, 'type')) || at(value, 'thought') === true) return;
    const text = at(value, 'text', 'refusal');
    const result = at(value, 'toolResult', 'functionResponse', 'function_response');
    if (typeof text === 'string') yield text;
    else if (result) yield* resultPieces(at(result, 'content', 'response') ?? null, depth + 1);
    else if (isResult(value))
      yield* resultPieces(at(value, 'content', 'output', 'response', 'result') ?? null, depth + 1);
    else yield* textPieces(at(value, 'content', 'parts'), depth + 1);
  }
}

/** What a tool gave: its texts, or else JSON. */
function* resultPieces(value: JsonValue, depth: number): Generator<string> {
  const isText = oneLine(textPieces(value, depth)) !== null;
  if (isText) yield* textPieces(value, depth);
  else if (!isNothing(value)) yield* jsonPieces(value);
}

/** A request to call a tool, as `name(arguments)`; nothing of what is none. */
function* callPieces(call: JsonValue): Generator<string> {
  const inner = at(call, 'function', 'functionCall', 'function_call', 'toolUse') ?? call;
  const name = at(inner, 'name') ?? at(call, 'name');
  if (typeof name !== 'string') return;
  const args = at(inner, 'arguments', 'args', 'input');
  yield `${name}(`;
  if (typeof args === 'string') yield args;
  else if (args !== undefined) yield* jsonPieces(args);
  yield ')';
}

const callTypes = /^(?:tool_use|tool_call|tool-call|function_call|function)$/;
const isCall = (part: JsonValue): boolean =>
  callTypes.test(String(at(part, 'type') ?? '')) ||
  at(part, 'functionCall', 'function_call', 'toolUse') !== undefined;

/** The tools that messages ask for, one after the other. */
function* callsPieces(messages: readonly JsonValue[]): Generator<string> {
  let separator = '';
  for (const message of messages) {
    const listed = at(message, 'tool_calls', 'toolCalls');
    const parts = at(at(message, 'content'), 'parts') ?? at(message, 'content', 'parts');
    const calls = [
      ...(isCall(message) ? [message] : []),
      ...(Array.isArray(parts) ? parts.filter(isCall) : []),
      ...(Array.isArray(listed) ? listed : []),
    ];
    for (const call of calls) {
      yield separator;
      yield* callPieces(call);
      separator = ', ';
    }
  }
}

const lastText = (
  messages: readonly JsonValue[],
  matches: (message: JsonValue) => boolean,
): string | null => {
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i] ?? null;
    const text = matches(message) ? oneLine(textPieces(message)) : null;
    if (text !== null) return text;
  }
  return null;
};

/** Whether a message is what a model was last told: by its user or by a tool. */
const isTold = (message: JsonValue): boolean => /^(?:user|tool)$/.test(getSpeaker(message) ?? '');

/** The names of a request's conversation. */
const conversations = ['messages', 'input', 'contents', 'prompt', 'prompts'] as const;

/** The last message of a conversation in the inputs, which may lie within a field of them. */
const lastMessage = (inputs: JsonValue | undefined, isInner = false): string | null => {
  for (const name of conversations) {
    const value = at(inputs, name);
    const messages = getMessages(value);
    if (messages) return lastText(messages, isTold) ?? lastText(messages, () => true);
    const inner = isInner || !isJsonObject(value) ? null : lastMessage(value, true);
    if (inner !== null) return inner;
  }
  return null;
};

/** The messages of an answer, whichever API gave it. */
const getAnswer = (output: JsonValue): JsonValue[] | undefined => {
  const [choice] = toList(at(output, 'choices'));
  if (choice !== undefined) return [unwrapped(at(choice, 'message', 'delta') ?? choice)];
  const [candidate] = toList(at(output, 'candidates'));
  if (isJsonObject(candidate)) return [{ role: 'model', content: at(candidate, 'content') ?? candidate }];
  const [generation] = toList(at(output, 'generations')).flatMap(toList);
  if (generation !== undefined) return [unwrapped(at(generation, 'message') ?? generation)];
  const whole = unwrapped(output);
  if (isJsonObject(whole) && getSpeaker(whole) !== undefined) return [whole];
  const parts = at(output, 'content');
  if (Array.isArray(parts) && parts.some((part) => isCall(part) || at(part, 'text') !== undefined))
    return [{ role: 'assistant', content: parts }];
  const message = at(output, 'message');
  if (isJsonObject(message)) return getAnswer(message);
  // What a node of LangGraph gave is what changes in the state.
  const [update] = toList(output).map((item) => at(item, 'update'));
  if (isJsonObject(update)) return getAnswer(update);
  return getMessages(output) ?? getMessages(at(output, 'output')) ?? getMessages(at(output, 'messages'));
};

/** What a model answered: the text of its last turn, else the tools that it asks for. */
const answer = (output: JsonValue): string | null => {
  const messages = getAnswer(output);
  if (!messages) return null;
  const turn = messages.slice(messages.findLastIndex(isTold) + 1);
  return (
    lastText(turn, () => true) ??
    oneLine(callsPieces(turn)) ??
    lastText(messages, (message) => getSpeaker(message) === 'model')
  );
};

// Calls of any other kind.

const inputNames = ['input', 'question', 'query', 'prompt', 'message', 'messages', 'text', 'task'] as const;
const outputNames = ['output', 'answer', 'response', 'result', 'content', 'value'] as const;

/** What says nothing of what a call was about: refs, and objects that Python could but name. */
const nameless = /^(?:(?:svc|weave):\/\/\/|<[\w.]+ object at 0x)/;

/** Whether a field's text says what a call was about. The model's name does not. */
const isContent = ([name, value]: readonly [string, JsonValue]): boolean =>
  typeof value === 'string' && name !== 'model' && !nameless.test(value) && oneLine([value]) !== null;

/** The only text among the fields, or a field of one of the names, or all of it. */
const pickField = (value: JsonObject, names: readonly string[]): string | null => {
  const texts = Object.entries(value).filter(isContent);
  const [only] = texts;
  if (texts.length === 1 && only) return plainly(only[1]);
  return plainly(at(value, ...names)) ?? plainly(value);
};

/** Under these names a tool's arguments are, if they are no object or were wrapped. */
const argumentNames = ['input', 'arguments', 'args', 'kwargs'];

/** The texts that a function of Python was called with, if it was traced whole: `{args, kwargs}`. */
const pythonArguments = (inputs: JsonObject): string | null => {
  const texts = toList(at(inputs, 'args'));
  const isAll = isNothing(at(inputs, 'kwargs')) && texts.every((text) => typeof text === 'string');
  return isAll && Object.hasOwn(inputs, 'kwargs')
    ? oneLine(texts.flatMap((text) => [String(text), ' ']))
    : null;
};

const toolArguments = (inputs: JsonObject): string | null => {
  const [name, ...others] = Object.keys(inputs);
  const isWrapped = name !== undefined && others.length === 0 && argumentNames.includes(name);
  return plainly(isWrapped ? inputs[name] : inputs);
};

const toolResult = (output: JsonValue): string | null => {
  if (typeof output === 'string') return plainly(output);
  const parts = Array.isArray(output) ? output : toList(at(output, 'content'));
  const isText = parts.length > 0 && parts.every((part) => at(part, 'type') === 'text');
  const isMessage = isJsonObject(output) && getSpeaker(unwrapped(output)) === 'tool';
  const text = isMessage ? textPieces(unwrapped(output)) : isText ? textPieces(parts) : [];
  return oneLine(text) ?? plainly(output);
};

const isTool = (attributes: JsonValue): boolean => at(attributes, 'kind') === 'tool';

const previewInput = (attributes: JsonValue, inputs: JsonValue): string | null => {
  if (!isJsonObject(inputs)) return plainly(inputs);
  if (isTool(attributes)) return toolArguments(inputs);
  const [name, ...others] = Object.keys(inputs);
  // A request whose messages were not reported: its model says nothing of what it was about.
  if (name === 'model' && others.length === 0) return null;
  const contents = at(inputs, 'contents');
  return (
    lastMessage(inputs) ??
    (typeof contents === 'string' ? plainly(contents) : null) ??
    pythonArguments(inputs) ??
    pickField(inputs, inputNames)
  );
};

/** The first line of an exception that is not blank. */
const firstLine = (exception: string): string | null => {
  const text = exception.trimStart();
  const end = text.search(/[\r\n]/);
  return oneLine([end < 0 ? text : text.slice(0, end)]);
};

const previewOutput = (ofTool: boolean, output: JsonValue, exception: JsonValue): string | null => {
  if (typeof exception === 'string') return firstLine(exception);
  if (ofTool) return toolResult(output);
  if (typeof output === 'string') return plainly(output);
  return answer(output) ?? (isJsonObject(output) ? pickField(output, outputNames) : plainly(output));
};

/** What of a call previews are made of. */
type PreviewedStart = Readonly<Record<'attributes' | 'inputs', JsonValue>>;
type PreviewedEnd = Readonly<Record<'output' | 'exception', JsonValue>>;

/**
 * What a call was about: one line each, of at most 160 UTF-16 units and 240 bytes of UTF-8, cut at
 * a character with `…`.
 *
 * - Of a model call: the last message of its user, or of a tool if that came last; and the answer's
 *   text, or the tools that it asks for as `name(arguments)`.
 * - Of a tool, whose `attributes.kind` is `tool`: its arguments and its result.
 * - Of any other call: the only text among the fields, or a field of a usual name.
 * - The output of a failed call is the first line of its exception.
 *
 * What has none of these is shown as compact JSON, and nothing as null.
 */
export const toPreview = (call: PreviewedStart & PreviewedEnd): Preview =>
  joinLines(isTool(call.attributes), startLines(call), endLines(call));

/**
 * The lines of a start or of an end, which may be reported without each other: of a start its
 * input, of an end its output and, if it is another, the output if the call is one of a tool.
 */
export type PreviewLines = readonly (string | null)[];

export const startLines = ({ attributes, inputs }: PreviewedStart): PreviewLines => [
  previewInput(attributes, inputs),
];

export const endLines = ({ output, exception }: PreviewedEnd): PreviewLines => {
  const plain = previewOutput(false, output, exception);
  const ofTool = previewOutput(true, output, exception);
  return plain === ofTool ? [plain] : [plain, ofTool];
};

/** @param end of a call that has ended */
export const joinLines = (ofTool: boolean, [input = null]: PreviewLines, end: PreviewLines = []): Preview => {
  const [plain = null, result = plain] = end;
  return { input, output: ofTool ? result : plain };
};

const parsed = (text: string | undefined): JsonValue => parseJson(text ?? 'null') as JsonValue;

/** The lines of a stored block, by the JSON texts of its fields: `attributes` and `inputs` of a start. */
export const linesOfStart = ([attributes, inputs]: readonly string[]): PreviewLines =>
  startLines({ attributes: parsed(attributes), inputs: parsed(inputs) });

/** As {@link linesOfStart}, of an end: `output`, `summary` and `exception`. */
export const linesOfEnd = ([output, , exception]: readonly string[]): PreviewLines =>
  endLines({ output: parsed(output), exception: parsed(exception) });

/** The preview of a stored call. */
export const previewOfPayload = ({
  attributes,
  inputs,
  output,
  exception,
}: Readonly<Record<'attributes' | 'inputs' | 'output' | 'exception', string>>): Preview =>
  toPreview({
    attributes: parsed(attributes),
    inputs: parsed(inputs),
    output: parsed(output),
    exception: parsed(exception),
  });

/** The lines of the blocks of a segment, each by the block's offset. */
export type SegmentLines = readonly (readonly [offset: number, lines: PreviewLines])[];

export const packLines = (lines: SegmentLines): Promise<Buffer> => pack(Buffer.from(JSON.stringify(lines)));

/**
 * Undoes {@link packLines}.
 *
 * @throws Error if the bytes are damaged
 */
export const unpackLines = (packed: Uint8Array): SegmentLines =>
  JSON.parse(unpack(packed).toString()) as SegmentLines;
