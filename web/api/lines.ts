/**
 * Parses JSON Lines as they arrive.
 *
 * @returns the values of each chunk that completes at least one line
 */
export async function* parsedLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<unknown[]> {
  const decoder = new TextDecoder();
  // A line may come in many chunks: they are joined once, at its end.
  let pending: string[] = [];
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf('\n');
    if (end < 0) {
      pending.push(text);
      continue;
    }
    const complete = [...pending, text.slice(0, end)].join('');
    pending = [text.slice(end + 1)];
    const values = complete
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
    if (values.length > 0) yield values;
  }
  const rest = pending.join('') + decoder.decode();
  if (rest.trim() !== '') yield [JSON.parse(rest)];
}

/** The chunks of an answer. Not every browser can iterate a stream itself. */
export async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
