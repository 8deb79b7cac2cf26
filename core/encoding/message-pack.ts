import { Decoder, Encoder } from '@msgpack/msgpack';

// Each has a buffer, which it uses again. Bundles that only decode go without the encoder.
const encoder = /* @__PURE__ */ new Encoder();
const decoder = /* @__PURE__ */ new Decoder();

/** A value as MessagePack (https://msgpack.org); the bytes are the caller's own. */
export const encodeMessagePack = (value: unknown): Uint8Array => encoder.encode(value);

/**
 * Undoes {@link encodeMessagePack}.
 *
 * @throws Error when the bytes are not one value
 */
export const decodeMessagePack = (bytes: Uint8Array): unknown => decoder.decode(bytes);

/** Cuts the nulls off a list's end: a reader takes what is missing for null. */
export const trimNulls = (fields: readonly unknown[]): unknown[] =>
  fields.slice(0, fields.findLastIndex((field) => field !== null) + 1);
