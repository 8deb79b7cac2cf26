import { delimiterLength } from '../runtime/response-stream.ts';
import type { Output } from '../runtime/worker.ts';

const delimiter = Buffer.alloc(delimiterLength);

/** The longest metadata, in bytes. No client accepts longer headers. */
const maxMetadataBytes = 64 * 1024;

/** A streamed answer, split into metadata and body. */
export interface SplitOutput {
  /** The text before the delimiter. */
  readonly metadata: string;
  /** The bytes after it, as they come. */
  readonly body: Output;
}

async function* bodyOf(first: Uint8Array, rest: Output): Output {
  try {
    if (first.length > 0) yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return();
  }
}

/**
 * Splits a streamed answer at the eight NUL bytes after its metadata. The chunks may end anywhere.
 *
 * @throws Error if the answer ends before the delimiter or has none within 64 KB; the function's
 * error if it fails
 */
export const splitOutput = async (output: Output): Promise<SplitOutput> => {
  let head = Buffer.alloc(0);
  for (let next = await output.next(); !next.done; next = await output.next()) {
    // The delimiter may begin in an earlier chunk.
    const from = Math.max(0, head.length - delimiterLength + 1);
    head = Buffer.concat([head, next.value]);
    const at = head.indexOf(delimiter, from);
    if (at >= 0) {
      const metadata = head.toString('utf8', 0, at);
      return { metadata, body: bodyOf(head.subarray(at + delimiterLength), output) };
    }
    if (head.length > maxMetadataBytes) break;
  }
  await output.return();
  throw new Error('the function wrote no metadata: answer through awslambda.HttpResponseStream.from');
};
