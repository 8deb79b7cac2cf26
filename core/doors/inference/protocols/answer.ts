import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  plainNumber,
} from '../../../../foundations/wire/index.ts';

/*
 * An answer between the APIs, whole or in events. Each API of an upstream has a file that reads it, each
 * API of a client one that writes it.
 */

/** The tokens of an answer. */
export interface Usage {
  /** All of the prompt, those read from the cache and written to it included. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** All of the answer, those of its reasoning included. */
  readonly output: number;
  readonly reasoning: number;
}

/** Why an answer has ended, by Anthropic's names. */
export type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded';

export interface Ending {
  readonly reason: StopReason;
  /** The sequence that it stopped at. */
  readonly sequence?: string | undefined;
  /** Why the model or a filter refused. */
  readonly explanation?: string | undefined;
}

export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly kind: 'redacted'; readonly data: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: JsonValue };

export interface Answer {
  readonly id?: string | undefined;
  readonly model?: string | undefined;
  readonly parts: readonly AnswerPart[];
  readonly ending: Ending;
  readonly usage?: Usage | undefined;
}

/** An error of an upstream. */
export interface UpstreamError {
  readonly status: number;
  readonly message: string;
  /** The upstream's own name for it. */
  readonly code?: string | undefined;
}

export type AnswerEvent =
  | { readonly kind: 'start'; readonly id?: string | undefined; readonly model?: string | undefined }
  /** A part begins. Its index is its own among all parts of the answer. */
  | { readonly kind: 'open'; readonly index: number; readonly part: AnswerPart }
  /** A piece of the text, the thinking, the signature or the arguments of a part. */
  | {
      readonly kind: 'text' | 'thinking' | 'signature' | 'input';
      readonly index: number;
      readonly piece: string;
    }
  | { readonly kind: 'close'; readonly index: number }
  | { readonly kind: 'ending'; readonly ending: Ending }
  | { readonly kind: 'usage'; readonly usage: Usage }
  /** Something of no meaning, which shows that the upstream is still there. */
  | { readonly kind: 'ping' }
  /** All has come. */
  | { readonly kind: 'finish' }
  | { readonly kind: 'error'; readonly error: UpstreamError };

/** Reads the events of one streamed answer. */
export interface EventReader {
  /** The events that an event of the upstream stands for. */
  read(name: string | undefined, data: JsonObject): readonly AnswerEvent[];
  /** What follows when the upstream has said all, by `[DONE]` or by closing after the answer's end. */
  end(): readonly AnswerEvent[];
  /** Whether the answer has its end, so that the upstream may close. */
  readonly hasEnded: boolean;
}

/** Writes the events of one streamed answer. */
export interface EventWriter {
  /** An event as server-sent events of the client's API; '' for none. */
  write(event: AnswerEvent): string;
}

/** A count of a usage; 0 if there is none. */
export const count = (value: JsonValue | undefined): number => {
  const number = plainNumber(value ?? 0);
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : 0;
};

export const toObject = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** The objects of a list; none if it is no list. */
export const toObjects = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** A server-sent event with JSON. */
export const serverSentEvent = (data: JsonValue, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
