import type { JsonObject, JsonValue } from '../../../../foundations/wire/index.ts';

/**
 * The APIs that can be translated into each other: OpenAI's Chat Completions, Anthropic's Messages and
 * Bedrock's Converse. All other paths are only passed on.
 */
export type Api = 'chat' | 'messages' | 'converse';

/** The APIs that clients may speak. Nobody sends Converse to the service. */
export type ClientApi = Exclude<Api, 'converse'>;

/** A request in the API of its upstream, and how what the upstream answers is said to the client. */
export interface Translation {
  /**
   * The request's body in the upstream's API, with the upstream's name of the model. Converse has
   * model and streaming in its path, so its body has neither.
   */
  readonly body: JsonObject;
  /**
   * A whole answer in the client's API.
   *
   * @throws ServiceError 502 if it is no answer of the upstream's API; the error's own status if it is
   * an error with a 200
   */
  answer(value: JsonValue): JsonObject;
  /** A translator for the events of one streamed answer. */
  events(): EventTranslator;
  /**
   * The body of an error in the client's API.
   *
   * @param status the status of the answer
   * @param value the upstream's body: its JSON, or its text if it is no JSON
   */
  error(status: number, value: JsonValue): JsonObject;
}

/** Translates the events of one streamed answer, in their order. */
export interface EventTranslator {
  /**
   * Takes an event of the upstream.
   *
   * @param name the event's name: of a server-sent event its `event`, of a frame of Bedrock its
   * `:event-type`, `:exception-type` or `:error-code`
   * @param data the event's data as text: JSON, or `[DONE]`. For a frame of Bedrock its payload, or
   * `{"message": …}` with its `:error-message`
   * @returns server-sent events for the client; '' for none
   */
  event(name: string | undefined, data: string): string;
  /**
   * Says that the upstream has closed its stream.
   *
   * @returns what the client still has to get: nothing after a whole answer, otherwise an error
   */
  end(): string;
  /** Whether the client has got all of the answer, an error included. */
  readonly isComplete: boolean;
  /** The error that came in place of an answer; undefined if the client has got anything else. */
  readonly failure: { readonly status: number; readonly body: JsonObject } | undefined;
}

/** What a translation takes from around the body. */
export interface TranslationOptions {
  /** The features of `anthropic-beta`. They reach Claude by Converse. @default - none */
  readonly betas?: readonly string[];
  /** The id of an answer that has none. @default - a new one */
  readonly id?: string;
  /** When the answer was made, in seconds since 1970. @default - now */
  readonly created?: number;
}
