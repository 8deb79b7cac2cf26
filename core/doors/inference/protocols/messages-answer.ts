import {
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../../../foundations/wire/index.ts';
import {
  type Answer,
  type AnswerEvent,
  type AnswerPart,
  count,
  type Ending,
  type EventReader,
  type EventWriter,
  type StopReason,
  serverSentEvent,
  toObject,
  toObjects,
  type Usage,
} from './answer.ts';
import { readError, writeError } from './errors.ts';

/* Answers of Anthropic's Messages API, by the types of @anthropic-ai/sdk 1.13.0. */

const reasons: ReadonlySet<string> = new Set<StopReason>([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
]);

const isReason = (text: string | undefined): text is StopReason => text !== undefined && reasons.has(text);

/** How an answer has ended, of a message or a `message_delta`. An unknown reason is an ordinary end. */
const readEnding = (fields: JsonObject): Ending => {
  const reason = asString(fields.stop_reason);
  return {
    reason: isReason(reason) ? reason : 'end_turn',
    sequence: asString(fields.stop_sequence),
    explanation: asString(toObject(fields.stop_details).explanation),
  };
};

const readUsage = (usage: JsonValue | undefined): Usage | undefined => {
  if (!isJsonObject(usage)) return undefined;
  const cacheRead = count(usage.cache_read_input_tokens);
  const cacheWrite = count(usage.cache_creation_input_tokens);
  return {
    input: count(usage.input_tokens) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: count(usage.output_tokens),
    reasoning: count(toObject(usage.output_tokens_details).thinking_tokens),
  };
};

/** A block as a part; undefined if other APIs have none like it. */
const readBlock = (block: JsonObject): AnswerPart | undefined => {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: asString(block.text) ?? '' };
    case 'thinking':
      return {
        kind: 'thinking',
        text: asString(block.thinking) ?? '',
        signature: asString(block.signature) ?? '',
      };
    case 'redacted_thinking':
      return { kind: 'redacted', data: asString(block.data) ?? '' };
    case 'tool_use':
      return {
        kind: 'call',
        id: asString(block.id) ?? '',
        name: asString(block.name) ?? '',
        input: block.input ?? {},
      };
    default:
      return undefined;
  }
};

/** Reads a whole answer of Messages. */
export const readMessage = (message: JsonObject): Answer => ({
  id: asString(message.id),
  model: asString(message.model),
  parts: toObjects(message.content).flatMap((block) => readBlock(block) ?? []),
  ending: readEnding(message),
  usage: readUsage(message.usage),
});

const deltas: ReadonlyMap<string, readonly ['text' | 'thinking' | 'signature' | 'input', string]> = new Map(
  Object.entries({
    text_delta: ['text', 'text'],
    thinking_delta: ['thinking', 'thinking'],
    signature_delta: ['signature', 'signature'],
    input_json_delta: ['input', 'partial_json'],
  }),
);

/** Reads a streamed answer of Messages. */
export class MessagesReader implements EventReader {
  #usage: JsonObject | undefined;
  readonly #open = new Set<number>();
  hasEnded = false;

  read(name: string | undefined, data: JsonObject): readonly AnswerEvent[] {
    const index = count(data.index);
    switch (asString(data.type) ?? name) {
      case 'message_start': {
        const message = toObject(data.message);
        this.#addUsage(message.usage);
        return [{ kind: 'start', id: asString(message.id), model: asString(message.model) }];
      }
      case 'content_block_start': {
        const part = readBlock(toObject(data.content_block));
        if (!part) return [];
        this.#open.add(index);
        return [{ kind: 'open', index, part }];
      }
      case 'content_block_delta':
        return this.#open.has(index) ? this.#delta(index, toObject(data.delta)) : [];
      case 'content_block_stop':
        return this.#open.delete(index) ? [{ kind: 'close', index }] : [];
      case 'message_delta': {
        this.#addUsage(data.usage);
        const delta = toObject(data.delta);
        if (asString(delta.stop_reason) === undefined) return [];
        this.hasEnded = true;
        const usage = readUsage(this.#usage);
        return [
          { kind: 'ending', ending: readEnding(delta) },
          ...(usage ? [{ kind: 'usage' as const, usage }] : []),
        ];
      }
      case 'message_stop':
        return this.end();
      case 'ping':
        return [{ kind: 'ping' }];
      case 'error':
        return [{ kind: 'error', error: readError(data, undefined, name) }];
      default:
        return [];
    }
  }

  end(): readonly AnswerEvent[] {
    return [{ kind: 'finish' }];
  }

  #delta(index: number, delta: JsonObject): readonly AnswerEvent[] {
    const [kind, field] = deltas.get(asString(delta.type) ?? '') ?? [];
    const piece = field === undefined ? undefined : asString(delta[field]);
    return kind === undefined || piece === undefined ? [] : [{ kind, index, piece }];
  }

  /** The counts are of the whole message so far, and left out where nothing has changed. */
  #addUsage(usage: JsonValue | undefined): void {
    if (!isJsonObject(usage)) return;
    const counted = Object.entries(usage).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(counted) };
  }
}

const writeUsage = (usage: Usage | undefined): JsonObject => {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 } = usage ?? {};
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
  };
};

const writeEnding = ({ reason, sequence, explanation }: Ending): JsonObject => ({
  stop_reason: reason,
  stop_sequence: sequence ?? null,
  ...(reason === 'refusal' && {
    stop_details: { type: 'refusal', category: null, explanation: explanation ?? null },
  }),
});

const writeBlock = (part: AnswerPart): JsonObject => {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'thinking':
      return { type: 'thinking', thinking: part.text, signature: part.signature };
    case 'redacted':
      return { type: 'redacted_thinking', data: part.data };
    case 'call':
      return { type: 'tool_use', id: part.id, name: part.name, input: part.input };
  }
};

/** What an answer is written with that it lacks itself. */
export interface Defaults {
  readonly id: string;
  readonly model: string;
  /** In seconds since 1970. */
  readonly created: number;
}

/** Writes a whole answer of Messages. */
export const writeMessage = (answer: Answer, defaults: Defaults): JsonObject => ({
  id: answer.id ?? `msg_${defaults.id}`,
  type: 'message',
  role: 'assistant',
  model: answer.model ?? defaults.model,
  content: answer.parts.map(writeBlock),
  ...writeEnding(answer.ending),
  usage: writeUsage(answer.usage),
});

/** A part as its block begins: what streams in pieces is empty. */
const emptied = (part: AnswerPart): AnswerPart => {
  switch (part.kind) {
    case 'text':
      return { ...part, text: '' };
    case 'thinking':
      return { ...part, text: '', signature: '' };
    case 'redacted':
      return part;
    case 'call':
      return { ...part, input: {} };
  }
};

/** Writes a streamed answer of Messages. */
export class MessagesWriter implements EventWriter {
  readonly #defaults: Defaults;
  /** The index at the client of each part. */
  readonly #indexes = new Map<number, number>();
  #hasStarted = false;
  #ending: Ending = { reason: 'end_turn' };
  #usage: Usage | undefined;

  constructor(defaults: Defaults) {
    this.#defaults = defaults;
  }

  write(event: AnswerEvent): string {
    switch (event.kind) {
      case 'start':
        return this.#start(event.id, event.model);
      case 'open':
        return this.#start() + this.#openBlock(event.index, event.part);
      case 'text':
        return this.#delta(event.index, { type: 'text_delta', text: event.piece });
      case 'thinking':
        return this.#delta(event.index, { type: 'thinking_delta', thinking: event.piece });
      case 'signature':
        return this.#delta(event.index, { type: 'signature_delta', signature: event.piece });
      case 'input':
        return this.#delta(event.index, { type: 'input_json_delta', partial_json: event.piece });
      case 'close':
        return this.#event('content_block_stop', { index: this.#getIndex(event.index) });
      case 'ending':
        this.#ending = event.ending;
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'ping':
        return this.#event('ping', {});
      case 'finish':
        return (
          this.#start() +
          this.#event('message_delta', { delta: writeEnding(this.#ending), usage: writeUsage(this.#usage) }) +
          this.#event('message_stop', {})
        );
      case 'error':
        return serverSentEvent(writeError('messages', event.error), 'error');
    }
  }

  #start(id?: string, model?: string): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    const message = {
      id: id ?? `msg_${this.#defaults.id}`,
      type: 'message',
      role: 'assistant',
      model: model ?? this.#defaults.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: writeUsage(undefined),
    };
    return this.#event('message_start', { message });
  }

  #openBlock(index: number, part: AnswerPart): string {
    this.#indexes.set(index, this.#indexes.size);
    const opened = this.#event('content_block_start', {
      index: this.#getIndex(index),
      content_block: writeBlock(emptied(part)),
    });
    // What a block already has when it begins follows as pieces, where clients look for it.
    if (part.kind === 'text' && part.text !== '')
      return opened + this.write({ kind: 'text', index, piece: part.text });
    if (part.kind !== 'thinking') return opened;
    return (
      opened +
      (part.text === '' ? '' : this.write({ kind: 'thinking', index, piece: part.text })) +
      (part.signature === '' ? '' : this.write({ kind: 'signature', index, piece: part.signature }))
    );
  }

  #delta(index: number, delta: JsonObject): string {
    return this.#event('content_block_delta', { index: this.#getIndex(index), delta });
  }

  #getIndex(index: number): number {
    return this.#indexes.get(index) ?? 0;
  }

  #event(type: string, fields: JsonObject): string {
    return serverSentEvent({ type, ...fields }, type);
  }
}
