import { createParser, type EventSourceParser } from 'eventsource-parser';
import { isJsonObject, type JsonObject, type JsonValue } from '../wire/index.ts';
import { CharacterAllowance } from './allowance.ts';
import type { Fold } from './fold.ts';
import { ChoicesFold } from './fold-choices.ts';
import { ResponsesFold } from './fold-responses.ts';

/** How many characters of an answer are kept. */
export const keptCharacters = 4 * 1024 * 1024;

/** What an answer said, as far as it was kept. */
export interface Assembled {
  /** The answer as JSON; a text where it is no JSON; null where there is none. */
  readonly output: JsonValue;
  /** Whether something was left out, for its length. */
  readonly truncated: boolean;
  /** The error that stands in the stream, if one does. */
  readonly error: JsonValue | undefined;
}

/** Takes the bytes of an answer as they pass, in any pieces, and puts together what they say. */
export interface Assembly {
  /** Takes the next bytes. Never throws, whatever they are. */
  add(bytes: Uint8Array): void;
  /**
   * Whether the model has said something yet, as far as that can be told apart from the bytes
   * having come.
   */
  readonly spoken: boolean;
  /** What has come. Nothing may be added after it. */
  end(): Assembled;
}

/** An answer that is no stream: kept whole, or not at all. */
export class WholeAssembly implements Assembly {
  readonly #allowance = new CharacterAllowance(keptCharacters);
  #chunks: Uint8Array[] = [];

  get spoken(): boolean {
    return this.#chunks.length > 0;
  }

  add(bytes: Uint8Array): void {
    if (this.#allowance.take(bytes.length)) this.#chunks.push(bytes);
    else this.#chunks = [];
  }

  end(): Assembled {
    const truncated = this.#allowance.exceeded;
    const text = truncated ? '' : Buffer.concat(this.#chunks).toString('utf8');
    const json = parsed(text);
    return { output: json === undefined ? text || null : json, truncated, error: undefined };
  }
}

/** JSON, or undefined where the text is none. */
const parsed = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
};

/**
 * A stream of server-sent events, each with JSON as its data, and at the end perhaps `[DONE]`; what
 * is none of these is passed over.
 */
export class StreamAssembly implements Assembly {
  readonly #allowance = new CharacterAllowance(keptCharacters);
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #fold: Fold | undefined;
  #error: JsonValue | undefined;
  #spoken = false;
  #overflowed = false;

  constructor() {
    this.#parser = createParser({
      onEvent: ({ data }) => this.#take(data),
      onError: ({ type }) => {
        this.#overflowed ||= type === 'max-buffer-size-exceeded';
      },
      maxBufferSize: 2 * keptCharacters,
    });
  }

  get spoken(): boolean {
    return this.#spoken;
  }

  add(bytes: Uint8Array): void {
    this.#feed(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): Assembled {
    // An event that no empty line ends is one all the same: clients take it.
    this.#feed(`${this.#decoder.decode()}\n\n`);
    return {
      output: this.#fold?.answer() ?? null,
      truncated: this.#allowance.exceeded || this.#overflowed,
      error: this.#error,
    };
  }

  #feed(text: string): void {
    // After one event too long to be held the parser takes no more.
    if (!this.#overflowed) this.#parser.feed(text);
  }

  #take(text: string): void {
    const data = parsed(text);
    if (!isJsonObject(data)) return;
    const error = errorOf(data);
    if (error !== undefined) this.#error ??= error;
    this.#spoken ||= speaks(data);
    this.#fold ??= foldOf(data, this.#allowance);
    this.#fold?.add(data);
  }
}

/** By its first event; undefined as long as none tells. */
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

/** Whether an event has a piece of what the model says: text, or a part of a tool call. */
const speaks = ({ type, choices }: JsonObject): boolean => {
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
