import { Decoder, Encoder } from '@msgpack/msgpack';

// Each reuses its buffer. Bundles that only decode do without the encoder.
const encoder = /* @__PURE__ */ new Encoder();
const decoder = /* @__PURE__ */ new Decoder();

/** A value as MessagePack (https://msgpack.org). The caller may keep the bytes. */
export const encodeMessagePack = (value: unknown): Uint8Array => encoder.encode(value);

/**
 * Undoes {@link encodeMessagePack}.
 *
 * @throws Error if the bytes are not one value
 */
export const decodeMessagePack = (bytes: Uint8Array): unknown => decoder.decode(bytes);
