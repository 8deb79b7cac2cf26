import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';
import { Decoder, Encoder } from '@msgpack/msgpack';
import { uuidAt } from './keys.ts';

const compressAsync = promisify(zstdCompress);

/**
 * Level 3: each level above costs more time than it saves bytes. The window spans the largest
 * request.
 */
const params = {
  [constants.ZSTD_c_compressionLevel]: 3,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: 23,
  [constants.ZSTD_c_checksumFlag]: 1,
};

/** Compresses with zstd. The frame has a checksum, and the length of its content. */
export const pack = (bytes: Uint8Array): Promise<Buffer> =>
  compressAsync(bytes, { params, pledgedSrcSize: bytes.length });

/** The least and the most that zlib may allocate at a time. Damaged bytes can claim any length. */
const minChunk = 64;
const maxChunk = 64 * 1024 * 1024;

/**
 * The length of a frame's content, which {@link pack} has it say.
 * Source: RFC 8878, 3.1.1.1
 */
const contentLength = (frame: Buffer): number => {
  const descriptor = frame.readUInt8(4);
  const at = descriptor & 0x20 ? 5 : 6;
  switch (descriptor >> 6) {
    case 0:
      return frame.readUInt8(at);
    case 1:
      return frame.readUInt16LE(at) + 256;
    default:
      return frame.readUInt32LE(at);
  }
};

/**
 * Undoes {@link pack}, at once: a thread of zlib's would take several times the processor time, more
 * than it could save by working beside this one. A frame whose content has room in one piece is decoded
 * in a single pass, straight to its place. With less room zstd works in a window of its own, and what it
 * allocates has V8 collect garbage.
 *
 * @throws Error if the bytes are damaged
 */
export const unpack = ({ buffer, byteOffset, length }: Uint8Array): Buffer => {
  const frame = Buffer.from(buffer, byteOffset, length);
  // With a byte to spare, zlib sees that there is no more.
  const chunkSize = Math.min(Math.max(contentLength(frame) + 1, minChunk), maxChunk);
  return zstdDecompressSync(frame, { chunkSize });
};

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

  /**
   * The canonical UUID of 16 bytes.
   *
   * @param beginning its first group, if the bytes are those behind it
   */
  uuid(beginning = ''): string {
    return uuidAt(this.#bytes, this.#skip(16 - beginning.length / 2), beginning);
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
