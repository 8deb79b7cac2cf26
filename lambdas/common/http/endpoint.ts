import { once } from 'node:events';
import { finished as eos, Readable, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { Endpoint, KeyEndpoint, LinkEndpoint } from '../../../api/endpoint.ts';
import { ServiceError } from '../../../foundations/wire/index.ts';
import {
  everyAnswer,
  formatted,
  jsonText,
  lineTypes,
  type Piece,
  type Records,
  recordTypes,
  withLineEnd,
} from './answer.ts';
import { compressedOnly, contentCoding, mediaType } from './negotiate.ts';
import { middlewares, type ServiceEvent, type ServiceRequest, timeoutEarlyResponse } from './request.ts';
import {
  abortable,
  afterFirst,
  compressor,
  limits as deployedLimits,
  encoded,
  type Limits,
  Sending,
} from './stream.ts';

/** A value that nobody changes. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

/** An answer that goes out as it becomes known. */
export class Streamed {
  /** Gives the text of the answer in a media type. */
  readonly text: (mediaType: string) => AsyncIterable<Piece>;
  /** How many records the request skips, if it could go on with another number. */
  readonly offset: number | undefined;

  constructor(text: (mediaType: string) => AsyncIterable<Piece>, offset?: number) {
    this.text = text;
    this.offset = offset;
  }
}

/** An answer that is JSON text, in pieces that end between two tokens. */
export const streamJson = (json: AsyncIterable<Piece>, offset?: number): Streamed =>
  new Streamed(() => json, offset);

/** An answer that is one whole JSON text. */
export const wholeJson = (json: string): Streamed =>
  streamJson(
    (async function* () {
      yield json;
    })(),
  );

/** An answer of records, in the format that the client likes best. */
export const streamRecords = (records: Records, offset?: number): Streamed =>
  new Streamed((mediaType) => formatted(mediaType, records), offset);

/** An answer of JSON texts, a line each. */
export const streamLines = (lines: AsyncIterable<readonly string[]>): Streamed =>
  new Streamed((mediaType) => formatted(mediaType, { json: () => lines, csv: () => lines }));

/** An answer with a head and bytes of its own. */
export interface RawAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** What the handler of a description answers: its value, or its text. */
type Handle<Body, Answer> = (
  request: ServiceRequest<Body>,
) => Frozen<Answer> | Streamed | Promise<Frozen<Answer> | Streamed>;

type Description<Body, Answer> =
  | Endpoint<Body, Answer>
  | KeyEndpoint<Body, Answer>
  | LinkEndpoint<Body, Answer>;

/** What a handler does, for a door that leads there by another path. */
export interface Work<Body, Answer> {
  readonly description: Description<Body, Answer>;
  readonly handle: Handle<Body, Answer>;
}

/** The same of a handler whose answer has a head and bytes of its own. */
export interface RawWork<Body> {
  readonly description: Endpoint<Body>;
  readonly answerRaw: (event: StreamEvent<Body>, context: Context) => Promise<RawAnswer>;
}

/** The event of an endpoint whose answer is streamed. */
export interface StreamEvent<Body> extends ServiceEvent<Body> {
  /** The stream that Lambda gives for the answer. */
  client: Writable;
  /** Runs once the answer has gone out, whatever became of it. It must not throw. */
  afterwards?: () => Promise<void>;
}

export type Head = Omit<RawAnswer, 'body'> & { readonly body: Readable | string };

/**
 * Writes a body to Lambda's stream, and ends it.
 *
 * @throws what the body ends in, and an error if the client leaves. The stream is not destroyed
 * then, as `pipeline` would: Lambda's runtime has a promise of the stream's end that it awaits only
 * after the handler, and a rejection before that ends the process. The runtime breaks the
 * connection off when the handler has failed.
 */
const passOn = async (body: Readable, client: Writable): Promise<void> => {
  const failing = new AbortController();
  const { signal } = failing;
  eos(body, (error) => error && failing.abort(error));
  eos(client, { readable: false }, () => body.destroy());
  for await (const bytes of body) {
    if (client.write(bytes)) continue;
    await once(client, 'drain', { signal }).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
  }
  await finished(client.end(), { readable: false });
};

/**
 * Keeps the break of a client's connection from Lambda's runtime, as long as the handler runs. The
 * runtime rejects a promise then that it awaits only after the handler, which would end the process.
 *
 * @returns gives it back to the runtime, or throws the error if it has come
 */
const holdErrors = (client: Writable): (() => void) => {
  const held = client.listeners('error') as ((error: Error) => void)[];
  const errors: Error[] = [];
  client.removeAllListeners('error');
  client.on('error', (error) => errors.push(error));
  return () => {
    for (const error of errors) throw error;
    for (const listener of held) client.on('error', listener);
  };
};

/**
 * Sends what a middy handler answers over Lambda's response stream. The head goes out at once. If
 * the body ends in an error, the connection breaks off.
 */
export const overStream = <Body>(invoke: (event: StreamEvent<Body>, context: Context) => Promise<Head>) =>
  awslambda.streamifyResponse(async (event: StreamEvent<Body>, client, context) => {
    const giveBack = holdErrors(client);
    event.client = client;
    try {
      const { body, ...head } = await invoke(event, context);
      const stream = awslambda.HttpResponseStream.from(client, head);
      stream.write('');
      if (typeof body === 'string') await finished(stream.end(body), { readable: false });
      else await passOn(body, stream);
    } finally {
      await event.afterwards?.();
    }
    giveBack();
  });

/** The headers of answers that no cache may keep. */
const uncached = { 'cache-control': 'no-store' };

const buffered = <Body, Answer>(description: Description<Body, Answer>, handle: Handle<Body, Answer>) =>
  middy<ServiceEvent<Body>, APIGatewayProxyResult>({ timeoutEarlyResponse })
    .use(middlewares(description))
    .handler(async ({ service, log }) => {
      let details = () => ({ rows: 1 });
      const describe: typeof service.describe = (facts) => {
        details = () => ({ rows: 1, ...facts() });
      };
      const body = jsonText(await handle({ ...service, describe }));
      log.describes(() => ({ status: 200, ...details(), bytes: Buffer.byteLength(body) }));
      log.ends('answered');
      return {
        statusCode: 200,
        headers: {
          ...everyAnswer(service.id),
          'content-type': 'application/json',
          ...(description.role ? {} : uncached),
        },
        body,
      };
    });

/**
 * An answer that is streamed. Its head goes out with the first text, or with white space if that
 * takes long. An earlier failure becomes an error answer; a later one breaks the connection off.
 */
export const streaming = <Body, Answer>(
  description: Description<Body, Answer>,
  handle: Handle<Body, Answer>,
  limits: Limits = deployedLimits,
  before: MiddlewareObj<StreamEvent<Body>>[] = middlewares(description),
  ofRecords: readonly string[] = recordTypes,
) => {
  const types =
    description.form === 'records'
      ? ofRecords
      : description.form === 'lines'
        ? lineTypes
        : ['application/json'];
  return middy<StreamEvent<Body>, Head>({ timeoutEarlyResponse })
    .use(before)
    .handler(async (event) => {
      const type = mediaType(event, types);
      const coding = contentCoding(event);
      // Whoever has no key gets a long answer compressed or not at all.
      if (!coding && description.scheme === 'none')
        throw new ServiceError(406, compressedOnly(['zstd', 'gzip']).detail);
      const aborting = new AbortController();
      const { service } = event;
      let details: Parameters<typeof service.describe>[0] = () => ({ rows: 1 });
      let offset: number | undefined;
      const request: ServiceRequest<Body> = {
        ...service,
        budget: { ...service.budget, signal: aborting.signal },
        describe: (facts) => {
          details = facts;
        },
      };
      const streamText = async function* (): AsyncGenerator<Piece> {
        const answer = await handle(request);
        if (!(answer instanceof Streamed)) {
          yield JSON.stringify(answer);
          return;
        }
        offset = answer.offset;
        yield* answer.text(type);
      };
      const sending = new Sending(coding && compressor(coding), event.client, limits);
      const text = await afterFirst(
        encoded(
          {
            text: type === 'application/json' ? withLineEnd(streamText()) : streamText(),
            logged: () => details(),
            offset: () => offset,
          },
          {
            log: event.log,
            sending,
            gone: aborting.signal,
            emptyLine: type === 'text/csv' ? '\r\n' : '\n',
            limits,
          },
        ),
      ).catch((error: unknown) => {
        // Nobody waits for what is still being read ahead.
        aborting.abort();
        throw error;
      });
      return {
        statusCode: 200,
        headers: {
          ...everyAnswer(service.id),
          'content-type': type,
          vary: 'accept, accept-encoding',
          ...(coding && { 'content-encoding': coding }),
        },
        body: sending.from(abortable(Readable.from(text, { objectMode: false }), aborting)),
      };
    });
};

/**
 * Makes the handler of a described endpoint. What it answers is one JSON value, or records, and
 * goes out as the description's shape says.
 *
 * @example
 * export const handler = endpoint(costCreate, async ({ body, caller, budget }) => ({
 *   ids: await createPrices(stores.costs, body, caller.user, budget),
 * }));
 */
export const endpoint = <Body, Answer>(
  description: Description<Body, Answer>,
  handle: Handle<Body, Answer>,
  limits?: Limits,
) =>
  Object.assign(
    description.streaming
      ? overStream(streaming(description, handle, limits))
      : buffered(description, handle),
    { description, handle } satisfies Work<Body, Answer>,
  );

/** The work of a described endpoint that a door alone leads to. */
export const work = <Body, Answer>(
  description: Description<Body, Answer>,
  handle: Handle<Body, Answer>,
): Work<Body, Answer> => ({ description, handle });

/**
 * Makes the handler of a described endpoint whose answer has a head and bytes of its own. It is
 * streamed, because API Gateway takes a buffered answer for text.
 *
 * @param before what runs before the handler, in order. @default - the middlewares of any endpoint
 */
export const rawEndpoint = <Body>(
  description: Endpoint<Body>,
  handle: (event: StreamEvent<Body>, context: Context) => Promise<RawAnswer>,
  before: (description: Endpoint<Body>) => MiddlewareObj<StreamEvent<Body>>[] = middlewares,
) =>
  Object.assign(overStream<Body>(raw(before(description), handle)), {
    description,
    answerRaw: handle,
  } satisfies RawWork<Body>);

/** What runs before an answer with a head and bytes of its own, and makes it. */
export const raw = <Body>(
  before: MiddlewareObj<StreamEvent<Body>>[],
  handle: (event: StreamEvent<Body>, context: Context) => Promise<RawAnswer>,
) => middy<StreamEvent<Body>, Head>({ timeoutEarlyResponse }).use(before).handler(handle);
