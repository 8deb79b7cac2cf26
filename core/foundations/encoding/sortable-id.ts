import { createHash } from 'node:crypto';
import { joinBytes } from './join-bytes.ts';

const maxSortable = 300;
/** A SHA-256 in hex. */
const digestLength = 64;
/** How many bytes of a longer id come before its digest. */
const keptLength = maxSortable - digestLength;

/**
 * An id for keys whose order counts, in at most 300 bytes: its UTF-8, whose bytes order as code
 * points do. A longer id keeps its first 236 bytes and ends in a digest, because a sort key takes
 * 1,024 bytes and may hold two ids. Readers sort again what is {@link orderedByDigest}.
 */
export const sortableId = (id: string): Buffer => {
  const bytes = Buffer.from(id, 'utf8');
  if (bytes.length <= maxSortable) return bytes;
  const digest = createHash('sha256').update(bytes).digest('hex');
  return joinBytes(bytes.subarray(0, keptLength), digest);
};

/**
 * Whether a digest may decide which of two sortable ids comes first. Their order may then differ
 * from that of the ids.
 */
export const orderedByDigest = (a: string, b: string): boolean => {
  // A UTF-16 code unit takes at most three bytes.
  if (Math.min(a.length, b.length) * 3 < keptLength) return false;
  const kept = (id: string) => Buffer.from(id, 'utf8').subarray(0, keptLength);
  return kept(a).equals(kept(b));
};
