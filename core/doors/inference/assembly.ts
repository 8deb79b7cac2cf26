import { createParser, type EventSourceParser } from 'eventsource-parser';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../foundations/wire/index.ts';
import { CharacterAllowance } from './allowance.ts';
import type { Fold } from './fold.ts';
import { ChoicesFold } from './fold-choices.ts';
import { ResponsesFold } from './fold-responses.ts';

/** The longest answer that a recording holds, in characters. */
const maxRecordedCharacters = 4 * 1024 * 1024;

/** An answer as far as it could be recorded. */
export interface AssembledAnswer {
  /** The answer as JSON; a string if it is not JSON; null if there is none. */
  readonly output: JsonValue;
  /** Whether something was left out because the answer was too long. */
  readonly truncated: boolean;
  /** The error event of the stream, if it had one. */
  readonly error: JsonValue | undefined;
}

/**
 * Takes the bytes of an answer as they pass, split anywhere, and assembles the answer from them.
 */
export interface Assembly {
  /** Takes the next bytes. Never throws, whatever they are. */
  add(bytes: Uint8Array): void;
  /**
   * Whether the model has produced output. Role headers and empty deltas of a stream do not count.
   */
  readonly hasOutput: boolean;
  /** The answer so far. Nothing may be added afterwards. */
  end(): AssembledAnswer;
}

/** Assembles an answer that is not a stream. It is recorded completely or not at all. */
export class BodyAssembly implements Assembly {
  readonly #allowance = new CharacterAllowance(maxRecordedCharacters);
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
    return { output: json === undefined ? text || null : json, truncated, error: undefined };
  }
}

/** The JSON value of a text; undefined if the text is not JSON. */
const parsed = (text: string): JsonValue | undefined => {
  try {
    return parseJson(text) as JsonValue;
  } catch {
    return undefined;
  }
};

/**
 * Assembles a stream of server-sent events. The data of each event is JSON; a final `[DONE]` and
 * anything else is skipped.
 */
export class StreamAssembly implements Assembly {
  readonly #allowance = new CharacterAllowance(maxRecordedCharacters);
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #fold: Fold | undefined;
  #error: JsonValue | undefined;
  #hasOutput = false;
  #overflowed = false;

  constructor() {
    this.#parser = createParser({
      onEvent: ({ data }) => this.#take(data),
      onError: ({ type }) => {
        this.#overflowed ||= type === 'max-buffer-size-exceeded';
      },
      maxBufferSize: 2 * maxRecordedCharacters,
    });
  }

  get hasOutput(): boolean {
    return this.#hasOutput;
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

  #take(text: string): void {
    const data = parsed(text);
    if (!isJsonObject(data)) return;
    const error = errorOf(data);
    if (error !== undefined) this.#error ??= error;
    this.#hasOutput ||= carriesOutput(data);
    this.#fold ??= foldOf(data, this.#allowance);
    this.#fold?.add(data);
  }
}

/** Chooses the fold by the first event that tells the kind of stream; undefined until then. */
const foldOf = (data: JsonObject, allowance: CharacterAllowance): Fold | undefined => {
  if (typeof data.type === 'string' && data.type.startsWith('response.')) return new ResponsesFold(allowance);
  return Array.isArray(data.choices) ? new ChoicesFold(allowance) : undefined;
};

const errorOf = (data: JsonObject): JsonValue | undefined => {
  if (data.type === 'error') return data;
  const { response } = data;
  return (isJsonObject(response) && response.error) || data.error || undefined;
};

const isNonEmpty = ([key, value]: [string, JsonValue]): boolean =>
  key !== 'role' && (typeof value === 'string' ? value !== '' : value !== null);

/** Whether an event carries model output: text or a piece of a tool call. */
const carriesOutput = ({ type, choices }: JsonObject): boolean => {
  if (typeof type === 'string' && type.endsWith('.delta')) return true;
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
