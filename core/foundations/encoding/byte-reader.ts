/** ASCII texts of at most so many bytes are put together here. A native call takes longer. */
const shortText = 24;

/**
 * Reads what a `ByteWriter` wrote, in the same order.
 *
 * @throws Error from every method if the bytes end too early
 */
export class ByteReader {
  readonly #bytes: Buffer;
  #at: number;

  /** @param from where to begin */
  constructor(bytes: Uint8Array, from = 0) {
    this.#bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = from;
  }

  /** Whether all was read. */
  get isDone(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw new Error('packed bytes end too early');
    this.#at++;
    return value;
  }

  count(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
  }

  integer(): number {
    const first = this.byte();
    const size = (first & 0x3f) + (first & 0x80 ? this.count() * 0x40 : 0);
    return first & 0x40 ? -size : size;
  }

  double(): number {
    return this.#bytes.readDoubleBE(this.#skip(8));
  }

  /** Bytes as lower-case hex digits. */
  hex(length: number): string {
    const from = this.#skip(length);
    return this.#bytes.toString('hex', from, this.#at);
  }

  /** Bytes as base64url without padding. */
  base64url(length: number): string {
    const from = this.#skip(length);
    return this.#bytes.toString('base64url', from, this.#at);
  }

  text(): string {
    const length = this.count();
    const from = this.#skip(length);
    if (length > shortText) return this.#bytes.toString('utf8', from, this.#at);
    let text = '';
    for (let i = from; i < this.#at; i++) {
      const byte = this.#bytes[i] ?? 0;
      if (byte > 0x7f) return this.#bytes.toString('utf8', from, this.#at);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** Goes on behind so many bytes, and returns where they begin. */
  #skip(length: number): number {
    const from = this.#at;
    if (from + length > this.#bytes.length) throw new Error('packed bytes end too early');
    this.#at = from + length;
    return from;
  }
}
