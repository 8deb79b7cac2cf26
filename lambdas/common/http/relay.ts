import { finished, pipeline, type Readable, type Writable } from 'node:stream';
import type { MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import type { Endpoint } from '../../../api/endpoint.ts';
import { type RawAnswer, rawEndpoint, type StreamEvent } from './endpoint.ts';
import { limits, Output } from './stream.ts';

/** The event of an endpoint that passes on the answer of another service. */
export interface RelayEvent<Body> extends StreamEvent<Body> {
  /** Aborted when nobody reads the answer any more, even before it has begun. */
  gone: AbortSignal;
}

/** Aborted when a stream ends before all of it was written. */
const closedEarly = (stream: Writable): AbortController => {
  const gone = new AbortController();
  finished(stream, { readable: false }, (error) => error && gone.abort());
  return gone;
};

/** Passes a body on, and tells if nobody takes it any more. */
const watched = (body: Readable, stalledMs: number, leave: () => void): Readable => {
  const output = new Output(stalledMs);
  output.once('error', leave);
  // A body that fails destroys the output, and its reader sees that.
  return pipeline(body, output, () => {});
};

/**
 * Makes the handler of a described endpoint that passes on the answer of another service. Its bytes
 * go out as they come. If they end in an error, or nobody takes them for a while, the connection
 * breaks off. The function then goes on with what its handler left to do afterwards.
 *
 * @param before what runs before the handler, in order
 */
export const relayEndpoint = <Body>(
  own: Endpoint<Body>,
  relay: (event: RelayEvent<Body>, context: Context) => Promise<RawAnswer>,
  before: (description: Endpoint<Body>) => MiddlewareObj<StreamEvent<Body>>[],
  stalledMs: number = limits.stalledMs,
) =>
  rawEndpoint<Body>(
    own,
    async (event, context) => {
      const gone = closedEarly(event.client);
      const { body, ...head } = await relay(Object.assign(event, { gone: gone.signal }), context);
      return { ...head, body: watched(body, stalledMs, () => gone.abort()) };
    },
    before,
  );
