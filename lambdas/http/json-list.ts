import type { Piece } from './text.ts';

/**
 * Writes batches of JSON texts as one JSON object with one list, `{"<field>":[…]}`. Nothing is
 * written before the first batch has come, so that what fails before it is an error like any other.
 *
 * @param field the list's name
 * @param wrote is told how many texts of a batch are about to be written
 */
export async function* jsonList(
  field: string,
  batches: AsyncIterable<readonly string[]>,
  wrote: (count: number) => void = () => {},
): AsyncGenerator<Piece> {
  const opening = `{${JSON.stringify(field)}:[`;
  let lead = opening;
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    wrote(batch.length);
    yield batch.flatMap((text, i) => [i === 0 ? lead : ',', text]);
    lead = ',';
  }
  yield lead === opening ? `${opening}]}` : ']}';
}
