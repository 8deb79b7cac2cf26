import { pipeline, type Readable, type Writable } from 'node:stream';
import middy, { type MiddlewareObj } from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { Context } from 'aws-lambda';
import { timeoutEarlyResponse } from './errors.ts';
import type { ServiceEvent } from './event.ts';
import { limits } from './limits.ts';
import { Output } from './output.ts';

/** The event of an endpoint that passes on the answer of another service. */
export interface RelayEvent<Body> extends ServiceEvent<Body> {
  /** Aborted when nobody reads the answer any more, even before it has begun. */
  gone: AbortSignal;
  /**
   * Runs once the answer has gone out, whatever became of it. The handler sets it, and it must not
   * throw.
   */
  afterwards?: () => Promise<void>;
}

/** Another service's answer: status, headers, and the body's bytes as they come. */
export interface RelayedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** Aborted when a stream closes before all of it was written. */
const closedEarly = (stream: Writable): AbortController => {
  const gone = new AbortController();
  stream.once('close', () => {
    if (!stream.writableFinished) gone.abort();
  });
  return gone;
};

/** Passes a body on, and tells if nobody takes it any more. */
const watched = (body: Readable, stalledMs: number, leave: () => void): Readable => {
  const output = new Output(stalledMs);
  output.once('error', leave);
  // A body that fails destroys the output, and its reader sees that.
  return pipeline(body, output, () => {});
};

interface WatchedEvent<Body> extends RelayEvent<Body> {
  /** Aborts `gone`. */
  leave: () => void;
}

type Invoke = (event: unknown, stream: Writable, context: Context) => Promise<void>;

/**
 * Makes the handler of an endpoint that passes on the answer of another service. Its bytes go out
 * as they come. If they end in an error, or nobody takes them for a while, the connection breaks
 * off. The function then goes on with what its handler left to do afterwards.
 *
 * @param middlewares what runs before the handler, in order
 */
export const relayEndpoint = <Body>(
  middlewares: readonly MiddlewareObj<RelayEvent<Body>>[],
  relay: (event: RelayEvent<Body>, context: Context) => Promise<RelayedAnswer>,
  stalledMs: number = limits.stalledMs,
) => {
  const invoke = middy<WatchedEvent<Body>, unknown>({
    executionMode: executionModeStreamifyResponse,
    timeoutEarlyResponse,
    requestEnd: (request) => (request.event as RelayEvent<Body>).afterwards?.(),
  })
    .use([...middlewares])
    .handler(async (event, context) => {
      const { status, headers, body } = await relay(event, context);
      return { statusCode: status, headers, body: watched(body, stalledMs, event.leave) };
    }) as unknown as Invoke;
  return awslambda.streamifyResponse((event: object, stream, context) => {
    const gone = closedEarly(stream);
    return invoke({ ...event, gone: gone.signal, leave: () => gone.abort() }, stream, context);
  });
};
