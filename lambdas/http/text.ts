/** A value as JSON on a line of its own, so that a terminal's prompt does not stand behind an answer. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Adds a line end to a text that has none at its end; no text at all stays so. */
export async function* withLineEnd(text: AsyncIterable<string>): AsyncGenerator<string> {
  let last = '\n';
  for await (const piece of text) {
    last = piece.at(-1) ?? last;
    yield piece;
  }
  if (last !== '\n') yield '\n';
}
