import { pipeline, Readable } from 'node:stream';
import middy from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { Details, RequestLog } from '../log/index.ts';
import { type Coding, contentCoding, mediaType } from './accept.ts';
import { compressor } from './compress.ts';
import { type Endpoint, middlewares } from './endpoint.ts';
import { timeoutEarlyResponse } from './errors.ts';
import type { ServiceEvent, ServiceRequest } from './event.ts';
import { type Piece, utf8, withLineEnd } from './text.ts';

/** A streamed answer: its text as it becomes known, and its details for the log once it is over. */
export interface StreamedAnswer {
  readonly text: AsyncIterable<Piece>;
  readonly logged: () => Details;
}

/** The endpoint's function. It takes the request and the media type of the answer. */
export type Streamer<Body> = (request: ServiceRequest<Body>, mediaType: string) => StreamedAnswer;

/**
 * Makes the handler of an endpoint whose answer is streamed. The answer's head goes out with its
 * first text. An earlier failure becomes an error answer; a later one breaks the connection off.
 *
 * @param mediaTypes what the endpoint can write, the default first
 */
export const streamEndpoint = <Body>(
  endpoint: Endpoint<Body>,
  mediaTypes: readonly string[],
  answer: Streamer<Body>,
) =>
  middy<ServiceEvent<Body>, unknown>({
    executionMode: executionModeStreamifyResponse,
    timeoutEarlyResponse,
  })
    .use(middlewares(endpoint))
    .handler(async (event) => {
      const type = mediaType(event, mediaTypes);
      const coding = contentCoding(event);
      const aborting = new AbortController();
      const { service } = event;
      const request = { ...service, budget: { ...service.budget, signal: aborting.signal } };
      const text = await begun(
        logged(event.log, inLines(answer(request, type), type), aborting.signal),
      ).catch((error: unknown) => {
        // Nobody waits for what is still being read ahead.
        aborting.abort();
        throw error;
      });
      const source = abortable(Readable.from(text, { objectMode: false }), aborting);
      return {
        statusCode: 200,
        headers: {
          'content-type': type,
          'x-request-id': request.id,
          vary: 'accept, accept-encoding',
          ...(coding && { 'content-encoding': coding }),
        },
        body: coding ? compressed(source, coding) : source,
      };
    });

/**
 * Has a stream abort its source when it is destroyed, which means that nobody reads on. The
 * source's generator cannot be ended while it waits for storage.
 */
const abortable = (stream: Readable, aborting: AbortController): Readable => {
  const destroy = stream._destroy.bind(stream);
  stream._destroy = (error, callback) => {
    aborting.abort();
    destroy(error, callback);
  };
  return stream;
};

/** Ends the line of a JSON value. The other types end their lines themselves. */
const inLines = (answer: StreamedAnswer, type: string): StreamedAnswer =>
  type === 'application/json' ? { ...answer, text: withLineEnd(answer.text) } : answer;

/**
 * Awaits the first item of an iterable, so that its failure is the caller's, and then gives all
 * items.
 */
const begun = async <T>(items: AsyncIterable<T>): Promise<AsyncGenerator<T>> => {
  const iterator = items[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* () {
    try {
      for (let item = first; !item.done; item = await iterator.next()) yield item.value;
    } finally {
      await iterator.return?.();
    }
  })();
};

/**
 * Encodes a text as UTF-8 and tells the log how it ended. The middleware for errors tells of a
 * failure before the first piece.
 */
async function* logged(
  log: RequestLog,
  { text, logged }: StreamedAnswer,
  gone: AbortSignal,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  let begun = false;
  log.describes(() => ({ status: 200, ...logged(), bytes }));
  try {
    for await (const piece of text) {
      const encoded = utf8(piece);
      begun = true;
      bytes += encoded.length;
      yield encoded;
    }
    // A source that is asked to stop may end without an error.
    log.ends(gone.aborted ? 'gone' : 'answered');
  } catch (error) {
    if (begun) log.ends(gone.aborted ? 'gone' : 'broken', error);
    throw error;
  } finally {
    // Ended from outside, between two pieces. An end that was told before counts, and this one does
    // not.
    if (begun) log.ends('gone');
  }
}

/** Compresses piece by piece. */
const compressed = (source: Readable, coding: Coding): Readable =>
  // A failure of the source destroys the compressor, and its reader sees that. Nobody else needs to
  // know.
  pipeline(source, compressor(coding), () => {});
