import { delimiterLength } from '../runtime/response-stream.ts';
import type { Output } from '../runtime/worker.ts';

const delimiter = Buffer.alloc(delimiterLength);

/** Longer than any head that a client would take. */
const maxMetadataBytes = 64 * 1024;

/** A streamed answer, parted. */
export interface PartedOutput {
  /** What stands before the delimiter. */
  readonly metadata: string;
  /** What comes after it, as it comes. */
  readonly body: Output;
}

async function* following(first: Uint8Array, rest: Output): Output {
  try {
    if (first.length > 0) yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return();
  }
}

/**
 * Parts a streamed answer at the eight NUL bytes after its metadata, which may come in any pieces.
 *
 * @throws Error where the answer ends before them, or they don't come within 64 KB; what the
 * function threw where it failed
 */
export const partOutput = async (output: Output): Promise<PartedOutput> => {
  let head = Buffer.alloc(0);
  for (let next = await output.next(); !next.done; next = await output.next()) {
    // The delimiter may have begun in what is there already.
    const from = Math.max(0, head.length - delimiterLength + 1);
    head = Buffer.concat([head, next.value]);
    const at = head.indexOf(delimiter, from);
    if (at >= 0) {
      const metadata = head.toString('utf8', 0, at);
      return { metadata, body: following(head.subarray(at + delimiterLength), output) };
    }
    if (head.length > maxMetadataBytes) break;
  }
  await output.return();
  throw new Error(
    'the function wrote no metadata: it should answer through awslambda.HttpResponseStream.from',
  );
};
