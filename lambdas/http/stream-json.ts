import type { Details } from '../log/index.ts';
import type { Endpoint } from './endpoint.ts';
import type { ServiceRequest } from './event.ts';
import { streamEndpoint } from './stream.ts';
import type { Piece } from './text.ts';

/** A streamed answer that is one JSON value. */
export interface StreamedJson {
  /** The value as JSON text: once it is known, or in pieces that end between two tokens. */
  readonly json: (() => Promise<string>) | AsyncIterable<Piece>;
  /** The details for the log at the answer's end. @default - one row */
  readonly logged?: () => Details;
  /** How many records the request skips. @default - it cannot skip any */
  readonly offset?: number;
}

async function* whole(json: () => Promise<string>): AsyncGenerator<string> {
  yield await json();
}

/**
 * Makes the handler of an endpoint whose answer is one JSON value of any length. It is streamed, so
 * it may also take longer than the 29 seconds of a buffered answer.
 */
export const streamJsonEndpoint = <Body>(
  endpoint: Endpoint<Body>,
  answer: (request: ServiceRequest<Body>) => StreamedJson,
) =>
  streamEndpoint(endpoint, ['application/json'], (request) => {
    const { json, logged = () => ({ rows: 1 }), ...skipped } = answer(request);
    return { text: typeof json === 'function' ? whole(json) : json, logged, ...skipped };
  });
