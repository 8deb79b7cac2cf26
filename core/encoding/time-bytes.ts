import type { Micros } from '../wire/index.ts';

/*
 * Times as bytes that order as the times do. Calls have the signed form, feedback the unsigned one;
 * items of both are stored, so neither can change.
 */

/** A time of any sign in seven bytes: its upper part, made positive, then its lower 32 bits. */
export const signedTimeBytes = (micros: Micros): Buffer => {
  const upper = Math.floor(micros / 2 ** 32);
  const bytes = Buffer.alloc(7);
  bytes.writeUIntBE(upper + 2 ** 21, 0, 3);
  bytes.writeUInt32BE(micros - upper * 2 ** 32, 3);
  return bytes;
};

/** How many bytes {@link unsignedTimeBytes} makes. */
export const unsignedTimeLength = 8;

/** The latest time that {@link unsignedTimeBytes} tells from later ones. */
export const maxUnsignedTime: Micros = Number.MAX_SAFE_INTEGER;

/** A time since 1970 in eight bytes. An earlier one counts as 1970. */
export const unsignedTimeBytes = (micros: Micros): Buffer => {
  const bytes = Buffer.alloc(unsignedTimeLength);
  bytes.writeBigUInt64BE(BigInt(Math.min(Math.max(micros, 0), maxUnsignedTime)));
  return bytes;
};

/** Undoes {@link unsignedTimeBytes}; bytes behind the eighth are left alone. */
export const fromUnsignedTimeBytes = (bytes: Uint8Array): Micros =>
  Number(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readBigUInt64BE());
