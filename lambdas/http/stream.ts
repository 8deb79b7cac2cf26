import { Readable, type Writable } from 'node:stream';
import middy from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { Context } from 'aws-lambda';
import { contentCoding, mediaType } from './accept.ts';
import { compressor } from './compress.ts';
import { type Endpoint, middlewares } from './endpoint.ts';
import { timeoutEarlyResponse } from './errors.ts';
import type { ServiceEvent, ServiceRequest } from './event.ts';
import { limits as deployedLimits, type Limits } from './limits.ts';
import { Sending } from './sending.ts';
import { withLineEnd } from './text.ts';
import { type StreamedAnswer, told } from './told.ts';

export type { StreamedAnswer } from './told.ts';

/** The endpoint's function. It takes the request and the media type of the answer. */
export type Streamer<Body> = (request: ServiceRequest<Body>, mediaType: string) => StreamedAnswer;

/** The event of an endpoint whose answer is streamed. */
interface StreamEvent<Body> extends ServiceEvent<Body> {
  /** The stream that Lambda gives for the answer. middy writes to it and hides it from handlers. */
  client: Writable;
}

type Invoke = (event: unknown, client: Writable, context: Context) => Promise<void>;

/**
 * Makes the handler of an endpoint whose answer is streamed. The answer's head goes out with its
 * first text, or with white space if that takes long. An earlier failure becomes an error answer; a
 * later one breaks the connection off.
 *
 * @param mediaTypes what the endpoint can write, the default first
 */
export const streamEndpoint = <Body>(
  endpoint: Endpoint<Body>,
  mediaTypes: readonly string[],
  answer: Streamer<Body>,
  limits: Limits = deployedLimits,
) => {
  const invoke = middy<StreamEvent<Body>, unknown>({
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
      const sending = new Sending(coding && compressor(coding), event.client, limits);
      const text = await begun(
        told(inLines(answer(request, type), type), {
          log: event.log,
          sending,
          gone: aborting.signal,
          emptyLine: type === 'text/csv' ? '\r\n' : '\n',
          limits,
        }),
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
        body: sending.from(source),
      };
    }) as unknown as Invoke;
  return awslambda.streamifyResponse((event: object, client, context) =>
    invoke({ ...event, client }, client, context),
  );
};

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
