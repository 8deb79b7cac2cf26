import {
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nonEmptyString,
  parseJson,
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
import { writeArguments, writeCall } from './chat-request.ts';
import { readError, writeError } from './errors.ts';
import type { Defaults } from './messages-answer.ts';

/*
 * Answers of OpenAI's Chat Completions API, by the types of the package `openai` 7.55.0, with
 * `reasoning_content` as DeepSeek, vLLM and others have it, or `reasoning` as OpenRouter.
 */

/** Reasons of OpenAI, and of Mistral and DeepSeek where they have more. */
const reasons: ReadonlyMap<string, StopReason> = new Map(
  Object.entries({
    stop: 'end_turn',
    length: 'max_tokens',
    model_length: 'model_context_window_exceeded',
    tool_calls: 'tool_use',
    function_call: 'tool_use',
    content_filter: 'refusal',
  }),
);

/** How an answer has ended. Some upstreams say `stop` after a call of a tool, where agents would stop. */
const readEnding = (choice: JsonObject, hasCalls: boolean, refusal: string): Ending => {
  const stopReason = reasons.get(asString(choice.finish_reason) ?? '') ?? 'end_turn';
  if (refusal !== '') return { reason: 'refusal', explanation: refusal };
  if (stopReason === 'end_turn' && hasCalls) return { reason: 'tool_use' };
  // vLLM says what stopped it, which may also be a token.
  const sequence = asString(choice.stop_reason);
  return stopReason === 'end_turn' && sequence !== undefined
    ? { reason: 'stop_sequence', sequence }
    : { reason: stopReason };
};

const readUsage = (usage: JsonValue | undefined): Usage | undefined => {
  if (!isJsonObject(usage)) return undefined;
  const prompt = toObject(usage.prompt_tokens_details);
  return {
    input: count(usage.prompt_tokens),
    cacheRead: count(prompt.cached_tokens),
    cacheWrite: count(prompt.cache_write_tokens),
    output: count(usage.completion_tokens),
    reasoning: count(toObject(usage.completion_tokens_details).reasoning_tokens),
  };
};

const getReasoning = (message: JsonObject): string =>
  asString(message.reasoning_content) ?? asString(message.reasoning) ?? '';

/** What a tool is called with. Arguments that are no JSON stay the text that they are. */
const readArguments = (text: string): JsonValue => {
  if (text.trim() === '') return {};
  try {
    return parseJson(text) as JsonValue;
  } catch {
    return text;
  }
};

const readCall = (call: JsonObject): AnswerPart => {
  const called = toObject(call.function);
  return {
    kind: 'call',
    id: asString(call.id) ?? '',
    name: asString(called.name) ?? '',
    input: readArguments(asString(called.arguments) ?? ''),
  };
};

/** The text of a content, which may be parts. */
const joinContent = (content: JsonValue | undefined): string =>
  asString(content) ??
  toObjects(content)
    .map((part) => asString(part.text) ?? '')
    .join('');

/** Reads a whole answer of Chat Completions. */
export const readCompletion = (completion: JsonObject): Answer => {
  const choice = toObject(toObjects(completion.choices)[0]);
  const message = toObject(choice.message);
  const thought = getReasoning(message);
  const content = joinContent(message.content);
  const refusal = asString(message.refusal) ?? '';
  const calls = toObjects(message.tool_calls).map(readCall);
  return {
    id: nonEmptyString(completion.id),
    model: nonEmptyString(completion.model),
    parts: [
      ...(thought === '' ? [] : [{ kind: 'thinking' as const, text: thought, signature: '' }]),
      ...[content, refusal].filter((text) => text !== '').map((text) => ({ kind: 'text' as const, text })),
      ...calls,
    ],
    ending: readEnding(choice, calls.length > 0, refusal),
    usage: readUsage(completion.usage),
  };
};

/** A call of a tool while it streams. */
interface StreamedCall {
  id: string;
  name: string;
  /** Its part, once it has a name. */
  part?: number;
}

/**
 * Reads a streamed answer of Chat Completions, in which nothing says where a part begins or ends: it ends
 * where another begins.
 */
export class ChatReader implements EventReader {
  readonly #calls = new Map<number, StreamedCall>();
  #current: { readonly index: number; readonly kind: AnswerPart['kind'] } | undefined;
  #parts = 0;
  #hasStarted = false;
  #refusal = '';
  hasEnded = false;

  read(name: string | undefined, data: JsonObject): readonly AnswerEvent[] {
    if (name === 'error' || data.error) return [{ kind: 'error', error: readError(data, undefined, name) }];
    const events: AnswerEvent[] = [];
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      events.push({ kind: 'start', id: nonEmptyString(data.id), model: nonEmptyString(data.model) });
    }
    for (const choice of toObjects(data.choices)) if (count(choice.index) === 0) this.#choice(choice, events);
    const usage = readUsage(data.usage);
    if (usage) events.push({ kind: 'usage', usage });
    return events;
  }

  end(): readonly AnswerEvent[] {
    const events: AnswerEvent[] = [];
    this.#close(events);
    return [...events, { kind: 'finish' }];
  }

  #choice(choice: JsonObject, events: AnswerEvent[]): void {
    const delta = toObject(choice.delta);
    this.#piece('thinking', getReasoning(delta), events);
    this.#piece('text', joinContent(delta.content), events);
    const refusal = asString(delta.refusal) ?? '';
    this.#refusal += refusal;
    this.#piece('text', refusal, events);
    for (const call of toObjects(delta.tool_calls)) this.#call(call, events);
    if (asString(choice.finish_reason) === undefined) return;
    this.hasEnded = true;
    this.#close(events);
    events.push({ kind: 'ending', ending: readEnding(choice, this.#calls.size > 0, this.#refusal) });
  }

  #piece(kind: 'text' | 'thinking', piece: string, events: AnswerEvent[]): void {
    if (piece === '') return;
    if (this.#current?.kind !== kind)
      this.#open(kind === 'text' ? { kind, text: '' } : { kind, text: '', signature: '' }, events);
    events.push({ kind, index: this.#current?.index ?? 0, piece });
  }

  #call(delta: JsonObject, events: AnswerEvent[]): void {
    const called = toObject(delta.function);
    const at = count(delta.index);
    const call: StreamedCall = this.#calls.get(at) ?? { id: '', name: '' };
    this.#calls.set(at, call);
    call.id ||= asString(delta.id) ?? '';
    call.name ||= asString(called.name) ?? '';
    if (call.part === undefined) {
      if (call.name === '') return;
      const id = call.id || `call_${at}`;
      call.part = this.#open({ kind: 'call', id, name: call.name, input: {} }, events);
    }
    const piece = asString(called.arguments) ?? '';
    if (piece !== '') events.push({ kind: 'input', index: call.part, piece });
  }

  #open(part: AnswerPart, events: AnswerEvent[]): number {
    this.#close(events);
    const index = this.#parts++;
    this.#current = { index, kind: part.kind };
    events.push({ kind: 'open', index, part });
    return index;
  }

  #close(events: AnswerEvent[]): void {
    if (this.#current) events.push({ kind: 'close', index: this.#current.index });
    this.#current = undefined;
  }
}

const finishReasons: Readonly<Record<StopReason, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

const writeUsage = ({ input, cacheRead, cacheWrite, output, reasoning }: Usage): JsonObject => {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }),
    },
    ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
};

/** Thinking that a client sends back as it is, so that Claude knows it as its own. */
const writeThinkingBlock = (part: AnswerPart): JsonObject[] => {
  if (part.kind === 'redacted') return [{ type: 'redacted_thinking', data: part.data }];
  if (part.kind !== 'thinking' || part.signature === '') return [];
  return [{ type: 'thinking', thinking: part.text, signature: part.signature }];
};

const joined = (parts: readonly AnswerPart[], kind: 'text' | 'thinking'): string =>
  parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join('');

const writeAnswerMessage = ({ parts, ending }: Answer): JsonObject => {
  const content = joined(parts, 'text');
  const thought = joined(parts, 'thinking');
  const blocks = parts.flatMap(writeThinkingBlock);
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [writeCall(part)] : []));
  return {
    role: 'assistant',
    content: content === '' && (calls.length > 0 || ending.explanation !== undefined) ? null : content,
    refusal: ending.explanation ?? null,
    ...(thought !== '' && { reasoning_content: thought }),
    ...(blocks.length > 0 && { thinking_blocks: blocks }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
};

/** Writes a whole answer of Chat Completions. */
export const writeCompletion = (answer: Answer, defaults: Defaults): JsonObject => ({
  id: answer.id ?? `chatcmpl-${defaults.id}`,
  object: 'chat.completion',
  created: defaults.created,
  model: answer.model ?? defaults.model,
  choices: [
    {
      index: 0,
      message: writeAnswerMessage(answer),
      logprobs: null,
      finish_reason: finishReasons[answer.ending.reason],
    },
  ],
  ...(answer.usage && { usage: writeUsage(answer.usage) }),
});

/** A part that streams. */
interface OpenPart {
  readonly part: AnswerPart;
  /** The index of a call among the calls. */
  readonly call: number;
  thought: string;
  signature: string;
  hasInput: boolean;
}

/** Writes a streamed answer of Chat Completions. */
export class ChatWriter implements EventWriter {
  readonly #includesUsage: boolean;
  readonly #created: number;
  #id: string;
  #model: string;
  readonly #open = new Map<number, OpenPart>();
  #calls = 0;
  #hasStarted = false;
  #usage: Usage | undefined;
  #ending: Ending = { reason: 'end_turn' };

  constructor({ id, model, created }: Defaults, includesUsage: boolean) {
    this.#id = `chatcmpl-${id}`;
    this.#model = model;
    this.#created = created;
    this.#includesUsage = includesUsage;
  }

  write(event: AnswerEvent): string {
    switch (event.kind) {
      case 'start':
        this.#id = event.id ?? this.#id;
        this.#model = event.model ?? this.#model;
        return this.#start();
      case 'open':
        return this.#start() + this.#openPart(event.index, event.part);
      case 'text':
        return this.#delta({ content: event.piece });
      case 'thinking':
        return this.#think(event.index, event.piece);
      case 'signature': {
        const open = this.#open.get(event.index);
        if (open) open.signature += event.piece;
        return '';
      }
      case 'input':
        return this.#input(event.index, event.piece);
      case 'close':
        return this.#close(event.index);
      case 'ending':
        this.#ending = event.ending;
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'ping':
        // A comment, which clients pass over.
        return ': ping\n\n';
      case 'finish':
        return this.#finish();
      case 'error':
        return serverSentEvent(writeError('chat', event.error));
    }
  }

  #start(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    return this.#delta({ role: 'assistant', content: '' });
  }

  #openPart(index: number, part: AnswerPart): string {
    const call = part.kind === 'call' ? this.#calls++ : -1;
    const open = { part, call, thought: '', signature: '', hasInput: false };
    this.#open.set(index, open);
    switch (part.kind) {
      case 'text':
        return part.text === '' ? '' : this.#delta({ content: part.text });
      case 'thinking':
        open.signature = part.signature;
        return part.text === '' ? '' : this.#think(index, part.text);
      case 'redacted':
        return this.#delta({ thinking_blocks: writeThinkingBlock(part) });
      case 'call': {
        const { id, name } = part;
        return this.#delta({
          tool_calls: [{ index: call, id, type: 'function', function: { name, arguments: '' } }],
        });
      }
    }
  }

  #think(index: number, piece: string): string {
    const open = this.#open.get(index);
    if (open) open.thought += piece;
    return piece === '' ? '' : this.#delta({ reasoning_content: piece });
  }

  #input(index: number, piece: string): string {
    const open = this.#open.get(index);
    if (!open || piece === '') return '';
    open.hasInput = true;
    return this.#delta({ tool_calls: [{ index: open.call, function: { arguments: piece } }] });
  }

  #close(index: number): string {
    const open = this.#open.get(index);
    if (!open) return '';
    const { part, thought, signature, hasInput } = open;
    // Without a piece, the arguments are those that the call began with: none, as a rule.
    if (part.kind === 'call' && !hasInput) return this.#input(index, writeArguments(part.input));
    if (part.kind !== 'thinking') return '';
    this.#open.delete(index);
    const blocks = writeThinkingBlock({ kind: 'thinking', text: thought, signature });
    return blocks.length > 0 ? this.#delta({ thinking_blocks: blocks }) : '';
  }

  #finish(): string {
    const { reason, explanation } = this.#ending;
    const usage =
      this.#includesUsage && this.#usage ? this.#chunk({ choices: [], usage: writeUsage(this.#usage) }) : '';
    return (
      this.#start() +
      (explanation === undefined ? '' : this.#delta({ refusal: explanation })) +
      this.#chunk({
        choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: finishReasons[reason] }],
      }) +
      usage +
      'data: [DONE]\n\n'
    );
  }

  #delta(delta: JsonObject): string {
    return this.#chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason: null }] });
  }

  #chunk(fields: JsonObject): string {
    return serverSentEvent({
      id: this.#id,
      object: 'chat.completion.chunk',
      created: this.#created,
      model: this.#model,
      ...fields,
    });
  }
}
