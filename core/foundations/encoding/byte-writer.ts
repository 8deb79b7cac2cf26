const firstCapacity = 1024;

/**
 * Writes numbers, texts and bytes one after the other, which `ByteReader` reads in the same order.
 * Its buffer is kept for the next value.
 */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(firstCapacity);
  #length = 0;

  /** Forgets what was written. */
  clear(): void {
    this.#length = 0;
  }

  /** What was written. The caller may keep it. */
  toBytes(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }

  /** A number from 0 to 255. */
  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /**
   * A safe integer from 0 on: seven bits a byte, the lowest first.
   *
   * @throws Error if it is another number
   */
  count(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${value} cannot be packed as a count`);
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) this.byte((rest % 0x80) | 0x80);
    this.byte(rest);
  }

  /** A safe integer: its sign in the first byte, beside six bits. The rest is a count. */
  integer(value: number): void {
    const size = Math.abs(value);
    if (!Number.isSafeInteger(size)) throw new Error(`${value} cannot be packed as an integer`);
    const more = size > 0x3f;
    this.byte((more ? 0x80 : 0) | (value < 0 ? 0x40 : 0) | (size % 0x40));
    if (more) this.count(Math.floor(size / 0x40));
  }

  /** Any number, in eight bytes. */
  double(value: number): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleBE(value, this.#length);
  }

  /** Bytes whose length the reader knows. */
  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Bytes behind their length. */
  block(bytes: Uint8Array): void {
    this.count(bytes.length);
    this.bytes(bytes);
  }

  /** A text without lone surrogates, as UTF-8 behind its length in bytes. */
  text(text: string): void {
    this.block(Buffer.from(text, 'utf8'));
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(needed * 2);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
