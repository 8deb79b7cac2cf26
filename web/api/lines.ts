/**
 * Cuts a text into its lines as it arrives, without empty ones.
 *
 * @returns the lines that each chunk completes, at least one
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
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
    const lines = complete.split('\n').filter((line) => line !== '');
    if (lines.length > 0) yield lines;
  }
  const rest = pending.join('') + decoder.decode();
  if (rest.trim() !== '') yield [rest];
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
