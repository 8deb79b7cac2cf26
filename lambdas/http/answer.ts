import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import Negotiator from 'negotiator';
import { ServiceError } from '../../core/foundations/wire/index.ts';
import { headersOf } from './request.ts';

/** A value as JSON with a line end, so that a terminal's prompt stands on a line of its own. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value)}\n`;

/**
 * Text, or texts that go out one after the other. Joining them would copy them twice more, and one
 * character that is not Latin would double their size in memory.
 */
export type Piece = string | readonly string[];

/** A piece as UTF-8. */
export const utf8 = (piece: Piece): Buffer => {
  const texts = [piece].flat();
  const bytes = Buffer.allocUnsafe(texts.reduce((length, text) => length + Buffer.byteLength(text), 0));
  let at = 0;
  for (const text of texts) at += bytes.write(text, at);
  return bytes;
};

/** Adds a line end to a text that does not end with one. An empty text stays empty. */
export async function* withLineEnd(text: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  let last = '\n';
  for await (const piece of text) {
    last =
      [piece]
        .flat()
        .findLast((text) => text !== '')
        ?.at(-1) ?? last;
    yield piece;
  }
  if (last !== '\n') yield '\n';
}

type Headers = Pick<APIGatewayProxyEvent, 'headers'>;

/**
 * Chooses the media type of an answer among those that can be written. It is the one that the
 * client likes best, or the first without an `accept` header.
 *
 * @throws ServiceError 406 when the client accepts none of them
 */
export const mediaType = (event: Headers, written: readonly string[]): string => {
  // A charset makes no difference: all answers are UTF-8.
  const accept = headersOf(event).accept?.replace(/;\s*charset=[^;,]*/gi, '') || '*/*';
  const chosen = new Negotiator({ headers: { accept } }).mediaType([...written]);
  if (chosen !== undefined) return chosen;
  throw new ServiceError(406, [
    { loc: ['header', 'accept'], msg: `should accept one of ${written.join(', ')}`, type: 'not_acceptable' },
  ]);
};

/** The codings that an answer can be compressed with, ours to prefer first. */
export const codings = ['zstd', 'gzip'] as const;
export type Coding = (typeof codings)[number];

/** Negotiator with an option that its types do not have yet. */
interface Preferring {
  encoding(available: readonly string[], options: { preferred: readonly string[] }): string | undefined;
}

/**
 * Chooses among codings: by the client's preference, and among equals the first. The client must
 * name a coding, since `*` alone does not say that it can read it.
 *
 * @returns undefined for an answer as it is
 */
export const preferredCoding = <C extends string>(event: Headers, preferred: readonly C[]): C | undefined => {
  const headers = headersOf(event);
  const header = headers['accept-encoding']?.toLowerCase() ?? '';
  const named = header.split(',').map((part) => part.split(';', 1)[0]?.trim());
  const available = preferred.filter((coding) => named.includes(coding));
  if (available.length === 0) return undefined;
  const negotiator: Preferring = new Negotiator({ headers });
  const chosen = negotiator.encoding([...available, 'identity'], { preferred });
  return available.find((coding) => coding === chosen);
};

/** Chooses how to compress an answer; undefined for an answer as it is. */
export const contentCoding = (event: Headers): Coding | undefined => preferredCoding(event, codings);

/** Records on their way into an answer, in each form. One of the forms is read, once. */
export interface Records {
  /** As JSON text, one each, in batches. */
  readonly json: AsyncIterable<readonly string[]>;
  /** As lines of CSV in batches, the line of column names first. */
  readonly csv: AsyncIterable<readonly string[]>;
}

type Format = (records: Records) => AsyncIterable<Piece>;

const lines = (end: string, of: (records: Records) => AsyncIterable<readonly string[]>): Format =>
  async function* (records) {
    for await (const batch of of(records)) if (batch.length > 0) yield batch.flatMap((line) => [line, end]);
  };

const jsonLines = lines('\n', ({ json }) => json);

async function* jsonArray({ json }: Records): AsyncGenerator<Piece> {
  let lead = '[';
  for await (const batch of json) {
    if (batch.length === 0) continue;
    yield batch.flatMap((record, i) => [i === 0 ? lead : ',\n', record]);
    lead = ',\n';
  }
  yield lead === '[' ? '[]\n' : ']\n';
}

const formats = new Map<string, Format>([
  ['application/jsonl', jsonLines],
  ['application/x-ndjson', jsonLines],
  ['application/json', jsonArray],
  ['text/csv', lines('\r\n', ({ csv }) => csv)],
]);

/** The media types of records, the default first. */
export const recordTypes: readonly string[] = [...formats.keys()];

/** Writes records as one of {@link recordTypes}, each as soon as it is known. */
export const formatted = (mediaType: string, records: Records): AsyncIterable<Piece> =>
  (formats.get(mediaType) ?? jsonLines)(records);

/**
 * Writes batches of JSON texts as one JSON object with one list, `{"<field>":[…]}`. It writes
 * nothing before the first batch, so that an earlier failure can still become an error answer.
 *
 * @param field the list's name
 * @param wrote takes the number of texts that are about to be written
 * @param after gives what follows the list, as JSON text with a comma before it
 */
export async function* jsonList(
  field: string,
  batches: AsyncIterable<readonly string[]>,
  wrote: (count: number) => void = () => {},
  after: () => Promise<string> = async () => '',
): AsyncGenerator<Piece> {
  const opening = `{${JSON.stringify(field)}:[`;
  let lead = opening;
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    wrote(batch.length);
    yield batch.flatMap((text, i) => [i === 0 ? lead : ',', text]);
    lead = ',';
  }
  const rest = await after();
  yield lead === opening ? `${opening}]${rest}}` : `]${rest}}`;
}

/** The answer of an endpoint without credentials, the same for everybody. */
export interface FixedAnswer {
  /** JSON, with a line end. */
  readonly text: string;
  /** The `cache-control` header: how long a client or a cache may keep it. */
  readonly cacheControl: string;
}

type Event = Pick<APIGatewayProxyEvent, 'headers' | 'httpMethod' | 'requestContext'>;

const headOf = ({ requestContext }: Event, cacheControl: string) => ({
  statusCode: 200,
  headers: {
    'content-type': 'application/json',
    'x-request-id': requestContext.requestId,
    'cache-control': cacheControl,
  },
});

/**
 * Makes the handler of an endpoint that answers everybody the same short JSON text, and HEAD
 * with none. It reads the method and the request's id alone and logs nothing: the access log has
 * the request, and nothing here can fail.
 */
export const fixedEndpoint =
  ({ text, cacheControl }: FixedAnswer) =>
  async (event: Event): Promise<APIGatewayProxyResult> => ({
    ...headOf(event, cacheControl),
    body: event.httpMethod === 'HEAD' ? '' : text,
  });

const compress = { zstd: zstdCompressSync, gzip: gzipSync } as const satisfies Record<Coding, unknown>;

/**
 * The same for a longer text, which is compressed if the client likes. It is streamed, because the
 * gateway would take the bytes of a buffered answer for text. Each form is made once.
 */
export const fixedStream = ({ text, cacheControl }: FixedAnswer) => {
  const made = new Map<Coding | undefined, Uint8Array>();
  const bytesAs = (coding: Coding | undefined): Uint8Array => {
    const bytes = made.get(coding) ?? (coding ? compress[coding](text) : Buffer.from(text));
    made.set(coding, bytes);
    return bytes;
  };
  return awslambda.streamifyResponse(async (event: Event, stream) => {
    const coding = contentCoding(event);
    const { statusCode, headers } = headOf(event, cacheControl);
    const answer = awslambda.HttpResponseStream.from(stream, {
      statusCode,
      headers: { ...headers, vary: 'accept-encoding', ...(coding && { 'content-encoding': coding }) },
    });
    // The head goes out with the first write, not with the end.
    answer.write(bytesAs(coding));
    answer.end();
  });
};
