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
