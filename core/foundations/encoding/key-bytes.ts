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
