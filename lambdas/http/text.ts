/**
 * A value as JSON on a line of its own, so that a terminal's prompt does not stand behind an
 * answer.
 */
export const jsonText = (value: unknown): string => `${JSON.stringify(value)}\n`;

/**
 * Text, or texts that go out one behind the other. Put together as one string they would be copied
 * twice more, and take two bytes a character where any of them has one that is no Latin letter.
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

/** Adds a line end to a text that has none at its end; no text at all stays so. */
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
