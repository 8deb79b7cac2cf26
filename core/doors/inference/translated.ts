import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { decodeUtf8, isJsonObject, parseOptionalJson } from '../../../foundations/wire/index.ts';
import { readError } from './protocols/errors.ts';
import type { EventTranslator, Translation } from './protocols/index.ts';
import { upstreamUnreadable } from './upstream.ts';

/** The longest whole answer, and the longest event of a stream, that is translated, in bytes. */
const maxBytes = 32 * 1024 * 1024;

/** Most upstreams are sent requests of their own API, so the decoder of Bedrock's frames is loaded when needed. */
const eventStreams = () => import('@smithy/core/event-streams');

/** Events of a stream of server-sent events, in the client's API. */
async function* fromServerSentEvents(source: Readable, events: EventTranslator): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let out = '';
  let isTooLong = false;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      out += events.event(event, data);
    },
    onError: ({ type }) => {
      isTooLong ||= type === 'max-buffer-size-exceeded';
    },
    maxBufferSize: maxBytes,
  });
  for await (const bytes of source) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (isTooLong) throw new Error(`an event has more than ${maxBytes} bytes`);
    if (out !== '') yield out;
    out = '';
  }
  // Some upstreams leave the empty line after the last event out.
  parser.feed(`${decoder.decode()}\n\n`);
  yield out + events.end();
}

type Frame = ReturnType<InstanceType<Awaited<ReturnType<typeof eventStreams>>['EventStreamCodec']>['decode']>;

const headerIn = ({ headers }: Frame, name: string): string | undefined => {
  const value = headers[name]?.value;
  return typeof value === 'string' ? value : undefined;
};

/** The name and the data of a frame: an event, an exception that AWS describes, or another error. */
const readFrame = (frame: Frame): [name: string | undefined, data: string] => {
  const header = (name: string) => headerIn(frame, name);
  if (header(':message-type') === 'error')
    return [
      header(':error-code'),
      JSON.stringify({ message: header(':error-message') ?? 'an error without a message' }),
    ];
  return [header(':event-type') ?? header(':exception-type'), decodeUtf8(frame.body)];
};

/** Events of a stream of AWS's frames, in the client's API. */
async function* fromFrames(source: Readable, events: EventTranslator): AsyncGenerator<string> {
  const { EventStreamCodec, getChunkedStream } = await eventStreams();
  const codec = new EventStreamCodec(decodeUtf8, (text: string) => Buffer.from(text, 'utf8'));
  for await (const bytes of getChunkedStream(source)) {
    const out = events.event(...readFrame(codec.decode(bytes)));
    if (out !== '') yield out;
  }
  yield events.end();
}

const readWhole = async (answer: Readable, upstream: string): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) throw upstreamUnreadable(upstream, `more than ${maxBytes} bytes`);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/**
 * The status of the error that a stream of server-sent events begins with: some upstreams answer 200 before
 * they know.
 *
 * @param bytes the first of the stream
 * @returns undefined if it begins otherwise, or with less than an event
 */
export const readFirstFailure = (bytes: Uint8Array): number | undefined => {
  const events: { readonly event?: string | undefined; readonly data: string }[] = [];
  createParser({ onEvent: (event) => events.push(event) }).feed(decodeUtf8(bytes));
  const [first] = events;
  const data = first && parseOptionalJson(first.data);
  if (!first || !isJsonObject(data)) return undefined;
  return first.event === 'error' || data.error ? readError(data, undefined, first.event).status : undefined;
};

/** An answer in the client's API. */
export interface TranslatedAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: Readable;
}

async function* resumed(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

const asJson = (status: number, body: string): TranslatedAnswer => ({
  status,
  type: 'application/json',
  body: Readable.from([body], { objectMode: false }),
});

/**
 * Translates the answer of an upstream as it comes. A stream that begins with an error is no answer, but
 * that error with its status. Events of a stream go on one by one; all else is
 * read whole first.
 *
 * @throws ServiceError 502 if a whole answer is not JSON, as the upstream's API has it
 */
export const translateAnswer = async (
  answer: IncomingMessage,
  translation: Translation,
  upstream: string,
): Promise<TranslatedAnswer> => {
  const { statusCode: status = 502, headers } = answer;
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding !== 'identity' && status < 400)
    throw upstreamUnreadable(upstream, `what is compressed (${encoding}), although it was asked not to`);
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const stream = type === 'text/event-stream' ? fromServerSentEvents : fromFrames;
  if (status < 400 && (type === 'text/event-stream' || type === 'application/vnd.amazon.eventstream')) {
    const translator = translation.events();
    const events = stream(answer, translator);
    const first = await events.next();
    const { failure } = translator;
    if (failure !== undefined) {
      await events.return(undefined);
      return asJson(failure.status, JSON.stringify(failure.body));
    }
    const body = Readable.from(resumed(first, events), { objectMode: false });
    return { status, type: 'text/event-stream; charset=utf-8', body };
  }
  const text = await readWhole(answer, upstream);
  const value = parseOptionalJson(text);
  if (status < 400 && value === undefined) throw upstreamUnreadable(upstream, 'what is not JSON');
  const body = status < 400 ? translation.answer(value ?? null) : translation.error(status, value ?? text);
  return asJson(status, JSON.stringify(body));
};
