import type { Piece } from './text.ts';

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
