import { createParser, type EventSourceParser } from 'eventsource-parser';
import {
  findProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  maxDepth,
  parseOptionalJson,
} from '../../../foundations/wire/index.ts';

/** The longest answer that a recording holds, in characters. */
const maxRecordedCharacters = 4 * 1024 * 1024;

/** Levels of a recorded value that are left for what is put around it. */
const spareLevels = 32;

/** An answer as far as it could be recorded. */
export interface AssembledAnswer {
  /** The answer as JSON; a string if it is not JSON that storage keeps; null if there is none. */
  readonly output: JsonValue;
  /** Whether something was left out because the answer was too long. */
  readonly truncated: boolean;
  /** The error that the answer is, or that its stream had as an event; undefined for none. */
  readonly error: JsonValue | undefined;
  /** Whether the answer should be JSON, and is none. */
  readonly isBroken?: boolean;
}

/** Takes the bytes of an answer as they pass, split anywhere, and assembles the answer from them. */
export interface Assembly {
  /** Takes the next bytes. Never throws, whatever they are. */
  add(bytes: Uint8Array): void;
  /** Whether the model has produced output. Role headers and empty deltas of a stream do not count. */
  readonly hasOutput: boolean;
  /** The answer so far. Nothing may be added afterwards. */
  end(): AssembledAnswer;
}

/** The JSON value of a text; undefined if the text is not JSON, or JSON that storage cannot keep. */
const parsed = (text: string): JsonValue | undefined => {
  const value = parseOptionalJson(text);
  return value === undefined || findProblem(value, maxDepth - spareLevels) ? undefined : value;
};

/**
 * Counts down the characters of an answer that a recording may still hold. It keeps an endless
 * answer from filling the memory.
 */
class Allowance {
  #left: number;
  /** Whether something was left out. */
  exceeded = false;

  constructor(characters: number) {
    this.#left = characters;
  }

  /**
   * Takes characters from the allowance.
   *
   * @returns false if fewer are left: the caller then leaves out what they were for
   */
  take(characters: number): boolean {
    if (characters > this.#left) {
      this.exceeded = true;
      return false;
    }
    this.#left -= characters;
    return true;
  }
}

/** Assembles an answer that is not a stream. It is recorded completely or not at all. */
export class BodyAssembly implements Assembly {
  readonly #allowance = new Allowance(maxRecordedCharacters);
  #chunks: Uint8Array[] = [];

  get hasOutput(): boolean {
    return this.#chunks.length > 0;
  }

  add(bytes: Uint8Array): void {
    if (this.#allowance.take(bytes.length)) this.#chunks.push(bytes);
    else this.#chunks = [];
  }

  end(): AssembledAnswer {
    const truncated = this.#allowance.exceeded;
    const text = truncated ? '' : Buffer.concat(this.#chunks).toString('utf8');
    const json = parsed(text);
    return {
      output: json === undefined ? text || null : json,
      truncated,
      error: isJsonObject(json) ? findError(json) : undefined,
      isBroken: !truncated && json === undefined && parseOptionalJson(text) === undefined,
    };
  }
}

/**
 * Assembles a stream of server-sent events. The data of each event is JSON; a final `[DONE]` and
 * anything else is skipped.
 */
export class StreamAssembly implements Assembly {
  readonly #allowance = new Allowance(maxRecordedCharacters);
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #fold: Fold | undefined;
  #error: JsonValue | undefined;
  #overflowed = false;
  hasOutput = false;

  constructor() {
    this.#parser = createParser({
      onEvent: ({ event, data }) => this.#take(event, data),
      onError: ({ type }) => {
        this.#overflowed ||= type === 'max-buffer-size-exceeded';
      },
      maxBufferSize: 2 * maxRecordedCharacters,
    });
  }

  add(bytes: Uint8Array): void {
    this.#feed(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): AssembledAnswer {
    // Clients accept a last event without an empty line after it, so the recording does too.
    this.#feed(`${this.#decoder.decode()}\n\n`);
    return {
      output: this.#fold?.answer() ?? null,
      truncated: this.#allowance.exceeded || this.#overflowed,
      error: this.#error,
    };
  }

  #feed(text: string): void {
    // The parser takes nothing more after one event that is too long to buffer.
    if (!this.#overflowed) this.#parser.feed(text);
  }

  #take(event: string | undefined, text: string): void {
    const data = parsed(text);
    // Some upstreams name their errors by the event alone.
    if (event === 'error') this.#error ??= isJsonObject(data) ? (findError(data) ?? data) : (data ?? text);
    if (!isJsonObject(data)) return;
    this.#error ??= findError(data);
    this.hasOutput ||= carriesOutput(data);
    this.#fold ??= chooseFold(data, this.#allowance);
    this.#fold?.add(data);
  }
}

/** What is an error in an object, which says so in one of many ways; undefined if nothing is. */
const findOwnError = (data: JsonObject): JsonValue | undefined => {
  const { error } = data;
  if (data.type === 'error') return data;
  if (!error) return undefined;
  return isJsonObject(error) || typeof error === 'string' ? error : data;
};

/** The error of an answer or an event: its own, that of its response, or that of one of its choices. */
const findError = (data: JsonObject): JsonValue | undefined => {
  const { response, choices } = data;
  const parts = [response, data, ...(Array.isArray(choices) ? choices : [])].filter(isJsonObject);
  return parts.map(findOwnError).find((error) => error !== undefined);
};

const isNonEmpty = ([key, value]: [string, JsonValue]): boolean =>
  key !== 'role' && (typeof value === 'string' ? value !== '' : value !== null);

/** Whether an event carries model output: text or a piece of a tool call. */
const carriesOutput = ({ type, choices }: JsonObject): boolean => {
  if (typeof type === 'string' && (type.endsWith('.delta') || type === 'content_block_delta')) return true;
  if (!Array.isArray(choices)) return false;
  return choices.some((choice) => {
    if (!isJsonObject(choice)) return false;
    const { text, delta } = choice;
    return (
      (typeof text === 'string' && text !== '') ||
      (isJsonObject(delta) && Object.entries(delta).some(isNonEmpty))
    );
  });
};

/**
 * Folds the events of one kind of stream into the answer that the request would have had without
 * `stream`.
 */
interface Fold {
  /** Takes the next event's data. */
  add(data: JsonObject): void;
  answer(): JsonObject | null;
}

/** Chooses the fold by the first event that shows the kind of stream; undefined until then. */
const chooseFold = (data: JsonObject, allowance: Allowance): Fold | undefined => {
  if (typeof data.type === 'string' && data.type.startsWith('response.')) return new ResponsesFold(allowance);
  if (data.type === 'message_start') return new MessagesFold(allowance);
  return Array.isArray(data.choices) ? new ChoicesFold(allowance) : undefined;
};

const maxItems = 1024;

/**
 * A streamed answer of the Responses API. Its last event carries the complete response. If that
 * never came, the answer has the completed items and the text of the unfinished one.
 */
class ResponsesFold implements Fold {
  readonly #allowance: Allowance;
  readonly #items = new Map<number, JsonObject>();
  readonly #texts = new Map<number, string>();
  #response: JsonObject | null = null;
  #complete = false;

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  add(data: JsonObject): void {
    const { type, response, item, delta, output_index: index } = data;
    if (isJsonObject(response)) {
      this.#complete = /^response\.(completed|incomplete|failed)$/.test(String(type));
      this.#response = this.#allowance.take(jsonLength(response)) ? response : withoutOutput(response);
    }
    if (typeof index !== 'number' || this.#items.size + this.#texts.size >= maxItems) return;
    if (type === 'response.output_item.done' && isJsonObject(item)) {
      this.#texts.delete(index);
      if (this.#allowance.take(jsonLength(item))) this.#items.set(index, item);
    }
    if (type !== 'response.output_text.delta' || typeof delta !== 'string') return;
    if (this.#allowance.take(delta.length)) this.#texts.set(index, (this.#texts.get(index) ?? '') + delta);
  }

  answer(): JsonObject | null {
    if (this.#complete || this.#response === null) return this.#response;
    const unfinished = [...this.#texts].map(([index, text]) => [index, unfinishedMessage(text)] as const);
    const output = [...this.#items, ...unfinished].toSorted(([a], [b]) => a - b).map(([, item]) => item);
    return { ...this.#response, output };
  }
}

/** What is recorded of a response that is too long: its usage, status and model. */
const withoutOutput = (response: JsonObject): JsonObject => {
  const kept = new Set(['id', 'object', 'model', 'status', 'usage']);
  return Object.fromEntries(Object.entries(response).filter(([name]) => kept.has(name)));
};

const unfinishedMessage = (text: string): JsonObject => ({
  type: 'message',
  role: 'assistant',
  status: 'in_progress',
  content: [{ type: 'output_text', text }],
});

/**
 * A separate allowance for the fields beside the choices or blocks. The usage comes last, when a long answer
 * may have taken the rest.
 */
const headCharacters = 64 * 1024;

/** The fields of a block that each kind of delta of Anthropic's adds a piece to. */
const blockFields: ReadonlyMap<string, string> = new Map(
  Object.entries({
    text_delta: 'text',
    thinking_delta: 'thinking',
    signature_delta: 'signature',
  }),
);

/** A block of a message while it streams: its fields, and the arguments of a tool as text so far. */
interface StreamedBlock {
  readonly fields: JsonObject;
  json: string;
}

/** A block as an answer has it. Arguments that were cut off stay text. */
const completeBlock = ({ fields, json }: StreamedBlock): JsonObject =>
  json === '' ? fields : { ...fields, input: parsed(json) ?? json };

/** A streamed answer of Anthropic's Messages API. Its counts are of the whole message so far. */
class MessagesFold implements Fold {
  readonly #allowance: Allowance;
  readonly #headAllowance = new Allowance(headCharacters);
  readonly #blocks = new Map<number, StreamedBlock>();
  #message: JsonObject = {};

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  add({ type, message, index, content_block: block, delta, usage }: JsonObject): void {
    if (type === 'message_start') this.#merge(message);
    if (type === 'message_delta') this.#merge({ ...(isJsonObject(delta) && delta), usage: usage ?? null });
    if (typeof index !== 'number') return;
    if (isJsonObject(block)) this.#open(index, block);
    const opened = this.#blocks.get(index);
    if (opened && isJsonObject(delta)) this.#extend(opened, delta);
  }

  answer(): JsonObject {
    const blocks = [...this.#blocks].toSorted(([a], [b]) => a - b);
    return { ...this.#message, content: blocks.map(([, block]) => completeBlock(block)) };
  }

  #merge(fields: JsonValue | undefined): void {
    if (!isJsonObject(fields)) return;
    if (!this.#headAllowance.take(jsonLength(fields))) {
      this.#allowance.exceeded = true;
      return;
    }
    const { usage, ...rest } = fields;
    const before = isJsonObject(this.#message.usage) ? this.#message.usage : {};
    const counted = Object.entries(isJsonObject(usage) ? usage : {}).filter(([, value]) => value !== null);
    this.#message = { ...this.#message, ...rest, usage: { ...before, ...Object.fromEntries(counted) } };
  }

  #open(index: number, block: JsonObject): void {
    if (this.#blocks.size >= maxItems) this.#allowance.exceeded = true;
    else if (this.#allowance.take(overhead + jsonLength(block)))
      this.#blocks.set(index, { fields: { ...block }, json: '' });
  }

  #extend(block: StreamedBlock, delta: JsonObject): void {
    const { type, partial_json: json, citation } = delta;
    if (typeof json === 'string' && this.#allowance.take(json.length)) block.json += json;
    const { citations } = block.fields;
    if (citation !== undefined && this.#allowance.take(jsonLength(citation)))
      block.fields.citations = [...(Array.isArray(citations) ? citations : []), citation];
    const field = blockFields.get(String(type));
    const piece = field === undefined ? undefined : delta[field];
    if (field !== undefined && typeof piece === 'string')
      mergeText(block.fields, field, piece, this.#allowance);
  }
}

const maxChoices = 128;
/**
 * A streamed chat completion or text completion. Choices are merged by index; the last value of
 * every other field counts.
 */
class ChoicesFold implements Fold {
  readonly #allowance: Allowance;
  readonly #headAllowance = new Allowance(headCharacters);
  readonly #head: JsonObject = {};
  readonly #choices = new Map<number, JsonObject>();

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  add(data: JsonObject): void {
    const { choices, obfuscation: _padding, ...head } = data;
    for (const [key, value] of Object.entries(head)) {
      if (value !== null || !Object.hasOwn(this.#head, key))
        setIfAllowed(this.#head, key, value, this.#headAllowance);
    }
    this.#allowance.exceeded ||= this.#headAllowance.exceeded;
    if (!Array.isArray(choices)) return;
    for (const choice of choices) if (isJsonObject(choice)) this.#addChoice(choice);
  }

  answer(): JsonObject {
    const choices = [...this.#choices.values()]
      .toSorted((a, b) => Number(a.index) - Number(b.index))
      .map(complete);
    const { object } = this.#head;
    return {
      ...this.#head,
      ...(object === 'chat.completion.chunk' && { object: 'chat.completion' }),
      choices,
    };
  }

  #addChoice({ index = 0, delta, ...rest }: JsonObject): void {
    if (typeof index !== 'number') return;
    const choice = this.#choices.get(index) ?? { index };
    if (!this.#choices.has(index)) {
      if (this.#choices.size >= maxChoices) {
        this.#allowance.exceeded = true;
        return;
      }
      this.#choices.set(index, choice);
    }
    mergeDelta(choice, { ...(isJsonObject(delta) && { message: delta }), ...rest }, this.#allowance);
  }
}

/** A choice as an answer has it. The index of a tool call means nothing in the complete list. */
const complete = ({ message, ...choice }: JsonObject): JsonObject => {
  if (!isJsonObject(message)) return choice;
  const calls = message.tool_calls;
  const completed = Array.isArray(calls) ? { ...message, tool_calls: calls.map(withoutIndex) } : message;
  return { index: choice.index ?? 0, message: completed, ...choice };
};

const withoutIndex = (item: JsonValue): JsonValue => {
  if (!isJsonObject(item)) return item;
  const { index: _index, ...rest } = item;
  return rest;
};

/** Text fields that arrive complete, perhaps repeatedly. All others arrive in pieces. */
const completeFields = new Set(['finish_reason', 'id', 'name', 'object', 'role', 'type']);

/** What an entry costs beside its text, in characters. */
const overhead = 16;
const maxDeltaDepth = 16;
const maxListLength = 1024;

/** Skips the key that would set a prototype. */
const isKey = (key: string): boolean => key !== '__proto__';

const getOwn = (object: JsonObject, key: string): JsonValue | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

const jsonLength = (value: JsonValue): number => JSON.stringify(value).length;

/** Sets or replaces a value if the allowance suffices for its growth. */
const setIfAllowed = (target: JsonObject, key: string, value: JsonValue, allowance: Allowance): void => {
  if (!isKey(key)) return;
  const before = getOwn(target, key);
  if (before === value) return;
  const growth =
    before === undefined ? overhead + key.length + jsonLength(value) : jsonLength(value) - jsonLength(before);
  if (allowance.take(Math.max(0, growth))) target[key] = value;
};

const mergeText = (target: JsonObject, key: string, piece: string, allowance: Allowance): void => {
  const before = getOwn(target, key);
  if (typeof before !== 'string' || completeFields.has(key)) setIfAllowed(target, key, piece, allowance);
  else if (allowance.take(piece.length)) target[key] = before + piece;
};

const getIndex = (item: JsonValue): number | undefined =>
  isJsonObject(item) && typeof item.index === 'number' ? item.index : undefined;

const mergeItem = (list: JsonValue[], item: JsonValue, allowance: Allowance, depth: number): void => {
  const index = getIndex(item);
  if (!isJsonObject(item) || index === undefined) {
    if (allowance.take(overhead + jsonLength(item))) list.push(item);
    return;
  }
  const before = list.find((other) => getIndex(other) === index);
  if (isJsonObject(before)) mergeDelta(before, item, allowance, depth + 1);
  else if (list.length >= maxListLength) allowance.exceeded = true;
  else if (allowance.take(overhead)) {
    const fresh: JsonObject = {};
    list.push(fresh);
    mergeDelta(fresh, item, allowance, depth + 1);
  }
};

/**
 * Merges a piece of a streamed message into what came before. Texts and lists are concatenated, and
 * items with an `index` are merged with those of the same index. The last of any other value
 * counts.
 *
 * @param target is changed
 * @param depth the depth of the piece in its message
 */
const mergeDelta = (target: JsonObject, delta: JsonObject, allowance: Allowance, depth = 0): void => {
  if (depth > maxDeltaDepth) {
    allowance.exceeded = true;
    return;
  }
  for (const [key, value] of Object.entries(delta)) {
    if (!isKey(key)) continue;
    const before = getOwn(target, key);
    if (value === null && before !== undefined) continue;
    if (typeof value === 'string') mergeText(target, key, value, allowance);
    else if (Array.isArray(value)) {
      const list = Array.isArray(before) ? before : [];
      if (list !== before && allowance.take(overhead + key.length)) target[key] = list;
      for (const item of value) mergeItem(list, item, allowance, depth);
    } else if (isJsonObject(value)) {
      const object = isJsonObject(before) ? before : {};
      if (object !== before && allowance.take(overhead + key.length)) target[key] = object;
      mergeDelta(object, value, allowance, depth + 1);
    } else setIfAllowed(target, key, value, allowance);
  }
};
