import { createHash } from 'node:crypto';
import type { Micros } from '../wire/index.ts';

/** Joins the parts of a key: texts as UTF-8, numbers from 0 to 255 as one byte, bytes unchanged. */
export const joinBytes = (...parts: (string | Uint8Array | number)[]): Buffer =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'number'
        ? Buffer.of(part)
        : typeof part === 'string'
          ? Buffer.from(part, 'utf8')
          : part,
    ),
  );

/*
 * Times as bytes in the same order. Calls are stored with the signed form and feedback with the
 * unsigned one, so neither may change.
 */

/** A time in seven bytes, before 1970 too: its upper part plus 2^21, then its lower 32 bits. */
export const signedTimeBytes = (micros: Micros): Buffer => {
  const upper = Math.floor(micros / 2 ** 32);
  const bytes = Buffer.alloc(7);
  bytes.writeUIntBE(upper + 2 ** 21, 0, 3);
  bytes.writeUInt32BE(micros - upper * 2 ** 32, 3);
  return bytes;
};

/** Undoes {@link signedTimeBytes}. Bytes after the seventh are ignored. */
export const fromSignedTimeBytes = (bytes: Uint8Array): Micros => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0] = bytes;
  const lower = ((d << 24) | (e << 16) | (f << 8) | g) >>> 0;
  return (((a << 16) | (b << 8) | c) - 2 ** 21) * 2 ** 32 + lower;
};

/** The length of {@link unsignedTimeBytes}. */
export const unsignedTimeLength = 8;

/** The latest time of {@link unsignedTimeBytes}. A later one counts as this. */
export const maxUnsignedTime: Micros = Number.MAX_SAFE_INTEGER;

/** A time since 1970 in eight bytes. An earlier one counts as 1970. */
export const unsignedTimeBytes = (micros: Micros): Buffer => {
  const bytes = Buffer.alloc(unsignedTimeLength);
  bytes.writeBigUInt64BE(BigInt(Math.min(Math.max(micros, 0), maxUnsignedTime)));
  return bytes;
};

/** Undoes {@link unsignedTimeBytes}. Bytes after the eighth are ignored. */
export const fromUnsignedTimeBytes = (bytes: Uint8Array): Micros =>
  Number(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readBigUInt64BE());

/** A UUID in lower-case hex with its four hyphens. Its 16 bytes give only this spelling back. */
const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The 16 bytes of a canonical UUID of any version; undefined for any other text. */
export const packUuid = (id: string): Buffer | undefined =>
  id.length === 36 && canonicalUuid.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : undefined;

const uuidLength = 36;
/** Where the digits of each byte of a UUID are in its text. */
const uuidPlaces = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
const hexCodes = Buffer.from('0123456789abcdef', 'latin1');
/** The text of a UUID while it is made: native calls and pieces of texts would take twice as long. */
const uuidText = /* @__PURE__ */ Buffer.alloc(uuidLength, '-');

/**
 * The canonical UUID of 16 bytes.
 *
 * @param at where they begin
 * @param beginning its first group, if the bytes are those behind it
 */
export const uuidAt = (bytes: Uint8Array, at: number, beginning = ''): string => {
  const known = beginning.length / 2;
  for (let i = 0; i < beginning.length; i++) uuidText[i] = beginning.charCodeAt(i);
  for (let i = known; i < 16; i++) {
    const byte = bytes[at + i - known] ?? 0;
    const place = uuidPlaces[i] ?? 0;
    uuidText[place] = hexCodes[byte >> 4] ?? 0;
    uuidText[place + 1] = hexCodes[byte & 15] ?? 0;
  }
  return uuidText.toString('latin1');
};

/** The canonical UUID of 16 bytes. Undoes {@link packUuid}. */
export const unpackUuid = (bytes: Uint8Array): string => uuidAt(bytes, 0);

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
    ? uuidAt(bytes, 1)
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
export const chooseShard = (id: string, count: number): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % count;
};

/** Sixteen bytes that stand for content of any length: the first half of its SHA-256. */
export const shortDigest = (content: string | Uint8Array): Buffer =>
  createHash('sha256').update(content).digest().subarray(0, 16);
