import type { Piece } from './text.ts';

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
