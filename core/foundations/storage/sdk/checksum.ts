/*
 * Takes the place of `@smithy/core/checksum` in the bundles (lib/bundles.ts). Node has SHA-256; the
 * one that the SDK brings along for others would be 3 KB of every cold start.
 */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';

type Data = string | ArrayBuffer | ArrayBufferView;

const plain = (data: Data): string | Buffer => {
  if (typeof data === 'string') return data;
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
};

/** SHA-256, or an HMAC by it where a secret is given. */
export class Sha256 {
  readonly #secret: Data | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Data) {
    this.#secret = secret;
    this.#hash = this.#begin();
  }

  #begin(): Hash | Hmac {
    return this.#secret ? createHmac('sha256', plain(this.#secret)) : createHash('sha256');
  }

  /** Adds to what is hashed. */
  update(data: Data): void {
    this.#hash.update(plain(data));
  }

  /** The 32 bytes of the hash, once all is added. */
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  /** Begins anew. */
  reset(): void {
    this.#hash = this.#begin();
  }
}
