import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  newId,
  parseJson,
  ServiceError,
} from '../../../../foundations/wire/index.ts';
import {
  type Answer,
  type AnswerEvent,
  type EventReader,
  type EventWriter,
  toObject,
  toObjects,
  type UpstreamError,
} from './answer.ts';
import { ChatReader, ChatWriter, readCompletion, writeCompletion } from './chat-answer.ts';
import { readChat, writeChat } from './chat-request.ts';
import { ConverseReader, findFailure, readConverse } from './converse-answer.ts';
import { writeConverse } from './converse-request.ts';
import { incomplete, readError, unreadable, unreadableAnswer, writeError } from './errors.ts';
import {
  type Defaults,
  MessagesReader,
  MessagesWriter,
  readMessage,
  writeMessage,
} from './messages-answer.ts';
import { readMessages, writeMessages } from './messages-request.ts';
import type { Prompt } from './prompt.ts';
import { Refusals } from './refusals.ts';
import type { Api, ClientApi, EventTranslator, Translation, TranslationOptions } from './translation.ts';

export type { Api, ClientApi, EventTranslator, Translation, TranslationOptions } from './translation.ts';

const requestReaders = { chat: readChat, messages: readMessages };

const requestWriters: Readonly<
  Record<Api, (prompt: Prompt, refusals: Refusals, betas: readonly string[]) => JsonObject>
> = {
  chat: writeChat,
  messages: writeMessages,
  converse: (prompt, refusals, betas) => writeConverse(prompt, betas, refusals),
};

/** Whether a value has what makes an answer of an API. */
const isAnswer: Readonly<Record<Api, (answer: JsonObject) => boolean>> = {
  chat: ({ choices }) => toObjects(choices).length > 0,
  messages: ({ content }) => Array.isArray(content),
  converse: ({ output }) => isJsonObject(toObject(output).message),
};

const answerReaders: Readonly<Record<Api, (answer: JsonObject) => Answer>> = {
  chat: readCompletion,
  messages: readMessage,
  converse: readConverse,
};

const answerWriters = { chat: writeCompletion, messages: writeMessage };

const eventReaders: Readonly<Record<Api, () => EventReader>> = {
  chat: () => new ChatReader(),
  messages: () => new MessagesReader(),
  converse: () => new ConverseReader(),
};

const eventWriter = (from: ClientApi, defaults: Defaults, includesUsage: boolean): EventWriter =>
  from === 'chat' ? new ChatWriter(defaults, includesUsage) : new MessagesWriter(defaults);

const parseObject = (text: string): JsonObject | undefined => {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const upstreamFailure = ({ status, message, code = 'upstream_error' }: UpstreamError): ServiceError =>
  new ServiceError(status, [{ loc: ['upstream'], msg: message, type: code }]);

/** Reads a whole answer, unless it is an error or nothing that can be read. */
const readAnswer = (api: Api, value: JsonValue): Answer => {
  const answer = toObject(value);
  const failure = api === 'converse' ? findFailure(answer.stopReason) : undefined;
  if (failure !== undefined) throw upstreamFailure({ status: 502, message: failure });
  if (isAnswer[api](answer)) return answerReaders[api](answer);
  throw upstreamFailure(answer.error ? readError(answer) : unreadableAnswer);
};

/** Reads the upstream's events, and writes them for the client until the answer is complete. */
class Translator implements EventTranslator {
  readonly #reader: EventReader;
  readonly #writer: EventWriter;
  readonly #toBody: (error: UpstreamError) => JsonObject;
  isComplete = false;
  failure: EventTranslator['failure'];
  #hasSaid = false;

  /** @param toBody the body of an answer that is an error */
  constructor(reader: EventReader, writer: EventWriter, toBody: (error: UpstreamError) => JsonObject) {
    this.#toBody = toBody;
    this.#reader = reader;
    this.#writer = writer;
  }

  event(name: string | undefined, data: string): string {
    if (data.trim() === '[DONE]') return this.end();
    const object = parseObject(data);
    if (object) return this.#write(this.#reader.read(name, object));
    if (name === 'error') return this.#write([{ kind: 'error', error: readError(data, undefined, name) }]);
    return data === '' ? '' : this.#write([{ kind: 'error', error: unreadable }]);
  }

  end(): string {
    const { hasEnded } = this.#reader;
    return this.#write(hasEnded ? this.#reader.end() : [{ kind: 'error', error: incomplete }]);
  }

  #write(events: readonly AnswerEvent[]): string {
    let text = '';
    for (const event of events) {
      if (this.isComplete) break;
      const written = this.#writer.write(event);
      if (event.kind === 'error' && !this.#hasSaid)
        this.failure = { status: event.error.status, body: this.#toBody(event.error) };
      this.#hasSaid ||= written !== '';
      text += written;
      this.isComplete = event.kind === 'finish' || event.kind === 'error';
    }
    return text;
  }
}

/**
 * Translates a request into the API of its upstream.
 *
 * @param from the API that the client speaks
 * @param to the API that the upstream speaks
 * @param body the client's body without the service's own fields, its numbers as `parseJson` reads them
 * @param model the model's name at the upstream
 * @returns undefined if both are the same: then the request is passed on
 * @throws ServiceError 422 with each place in the body that cannot be said in the other API
 */
export const translate = (
  from: ClientApi,
  to: Api,
  body: JsonObject,
  model: string,
  options: TranslationOptions = {},
): Translation | undefined => {
  if (from === to) return undefined;
  const { betas = [], id = newId(), created = Math.floor(Date.now() / 1000) } = options;
  const refusals = new Refusals(to);
  const prompt = requestReaders[from](body, model, refusals);
  const written = requestWriters[to](prompt, refusals, betas);
  refusals.check();
  const defaults = { id, model, created };
  return {
    body: written,
    answer: (value) => answerWriters[from](readAnswer(to, value), defaults),
    events: () =>
      new Translator(eventReaders[to](), eventWriter(from, defaults, prompt.includesUsage), (error) =>
        writeError(from, error),
      ),
    error: (status, value) => writeError(from, readError(value, status)),
  };
};
