import { createHash } from 'node:crypto';
import { UUID, uuidv7 } from 'uuidv7';
import type { Micros } from './time.ts';

const printable = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+$/u;

/** The rule for ids, for error messages. */
export const idRule = 'should be 1 to 256 printable characters';

/**
 * Whether a client's id is 1–256 printable characters (code points): no controls, line breaks or
 * lone surrogates.
 */
export const isId = (text: string): boolean =>
  text.length > 0 &&
  text.length <= 512 &&
  (text.length <= 256 || [...text].length <= 256) &&
  printable.test(text);

/** Makes an id: a UUIDv7, so that ids are in order of time. */
export const newId = (): string => uuidv7();

const latestMillis = 2 ** 48 - 1;

/**
 * Makes the same id from the same time and seed: a UUIDv7 whose random bits come from the SHA-256
 * of the seed.
 */
export const idOf = (time: Micros, seed: string): string => {
  const hash = createHash('sha256').update(seed).digest();
  const millis = Math.min(Math.max(Math.floor(time / 1000), 0), latestMillis);
  const bits = [hash.readUInt16BE(0) & 0xfff, hash.readUInt32BE(2) >>> 2, hash.readUInt32BE(6)] as const;
  return UUID.fromFieldsV7(millis, ...bits).toString();
};
