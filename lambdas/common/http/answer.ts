import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { requestIdHeader } from '../../../api/shared/headers.ts';

/** The headers of every answer: its request's id, and that browsers take its type as it is said. */
export const everyAnswer = (requestId: string) => ({
  [requestIdHeader]: requestId,
  'x-content-type-options': 'nosniff',
});

/** A value as JSON with a line end, so that a terminal's prompt stands on a line of its own. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value)}\n`;

/**
 * Text, or texts that go out one after the other. Joining them would copy them twice more, and one
 * character that is not Latin would double their size in memory.
 */
export type Piece = string | readonly string[];

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

/** Records on their way into an answer. They are read once, in one of the forms. */
export interface Records {
  /** Gives them as JSON text, one each, in batches. */
  readonly json: () => AsyncIterable<readonly string[]>;
  /** Gives them as lines of CSV in batches, the line of column names first. */
  readonly csv: () => AsyncIterable<readonly string[]>;
}

type Format = (records: Records) => AsyncIterable<Piece>;

const lines = (end: string, toLines: (records: Records) => AsyncIterable<readonly string[]>): Format =>
  async function* (records) {
    for await (const batch of toLines(records))
      if (batch.length > 0) yield batch.flatMap((line) => [line, end]);
  };

/** Line ends of Unicode that JSON may have in its strings. Python's `splitlines` splits at them. */
const lineEnds = /[\u0085\u2028\u2029]/g;

const escapedEnd = (end: string): string => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`;

const jsonLines = lines('\n', async function* ({ json }) {
  for await (const batch of json()) yield batch.map((record) => record.replace(lineEnds, escapedEnd));
});

async function* jsonArray({ json }: Records): AsyncGenerator<Piece> {
  let lead = '[';
  for await (const batch of json()) {
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
  ['text/csv', lines('\r\n', ({ csv }) => csv())],
]);

/** The media types of records, the default first. */
export const recordTypes: readonly string[] = [...formats.keys()];

/** Those of them that have a record a line. */
export const lineTypes: readonly string[] = ['application/jsonl', 'application/x-ndjson'];

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

/** What a fixed answer depends on. */
export type FixedEvent = Pick<APIGatewayProxyEvent, 'headers' | 'httpMethod' | 'requestContext' | 'resource'>;

/** The head of such an answer. */
export const toHead = ({ requestContext }: FixedEvent, cacheControl: string) => ({
  statusCode: 200,
  headers: {
    ...everyAnswer(requestContext.requestId),
    'content-type': 'application/json',
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
  async (event: FixedEvent): Promise<APIGatewayProxyResult> => ({
    ...toHead(event, cacheControl),
    body: event.httpMethod === 'HEAD' ? '' : text,
  });
