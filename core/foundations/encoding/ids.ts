import { createHash } from 'node:crypto';
import { joinBytes } from './key-bytes.ts';

/** A UUID in lower-case hex with its four hyphens. Its 16 bytes give only this spelling back. */
const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The 16 bytes of a canonical UUID of any version; undefined for any other text. */
export const packUuid = (id: string): Buffer | undefined =>
  id.length === 36 && canonicalUuid.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : undefined;

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The canonical UUID of 32 hex digits. */
export const uuidOfHex = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

/** The canonical UUID of 16 bytes. Undoes {@link packUuid}. */
export const unpackUuid = (bytes: Uint8Array): string => uuidOfHex(asBuffer(bytes).toString('hex'));

/** Marks a UUID. Ids hold no control characters, so none begins with this byte. */
const uuidTag = 1;

/**
 * An id for keys that only tell ids apart. A canonical UUID, the usual case, takes 17 bytes instead
 * of 36; any other id is its UTF-8.
 */
export const compactId = (id: string): Buffer => {
  const packed = packUuid(id);
  return packed ? joinBytes(uuidTag, packed) : Buffer.from(id, 'utf8');
};

/** Undoes {@link compactId}. */
export const fromCompactId = (bytes: Uint8Array): string =>
  bytes[0] === uuidTag
    ? unpackUuid(bytes.subarray(1))
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

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

/**
 * The shard of an id among `count`, from 0: FNV-1a (32 bits) over its UTF-16 code units, modulo the
 * count.
 */
export const shardOf = (id: string, count: number): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % count;
};

/** Sixteen bytes that stand for a text of any length: the first half of its SHA-256. */
export const shortDigest = (text: string): Buffer =>
  createHash('sha256').update(text).digest().subarray(0, 16);
