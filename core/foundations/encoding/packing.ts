import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { Decoder, Encoder } from '@msgpack/msgpack';

const compressAsync = promisify(zstdCompress);
const decompressAsync = promisify(zstdDecompress);

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

/**
 * Compresses with zstd. The frame has a checksum and the length of its content, so that a reader
 * allocates no more than that.
 */
export const pack = (bytes: Uint8Array): Promise<Buffer> =>
  compressAsync(bytes, { params, pledgedSrcSize: bytes.length });

/** The magic number (4 bytes), the descriptor (1), the window (1) and the content's length (8). */
const maxHeader = 14;

/** The bytes of the field with the content's length, by its code in the descriptor. */
const lengthOfSize = [1, 2, 4, 8] as const;

/**
 * The length of a frame's content in bytes, after RFC 8878, 3.1.1.1.
 *
 * @param frame one that {@link pack} made; older versions wrote no length
 * @returns undefined if the frame has no length, or is too short to have the longest header
 */
export const contentSize = (frame: Uint8Array): number | undefined => {
  if (frame.length < maxHeader) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const descriptor = view.getUint8(4);
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const length = lengthOfSize[(descriptor >> 6) as 0 | 1 | 2 | 3];
  // The window comes first, unless the frame is a single segment. Nothing here has a dictionary.
  const at = isSingleSegment ? 5 : 6;
  if (length === 1) return isSingleSegment ? view.getUint8(at) : undefined;
  if (length === 2) return view.getUint16(at, true) + 256;
  return length === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
};

/** The most that is allocated at once, in bytes, whatever a frame says. */
const maxChunk = 64 * 1024 * 1024;

/**
 * How many bytes to allocate at once: the content and one byte to see its end, or the usual size of
 * a segment.
 */
const chunkSize = (frame: Uint8Array): number => {
  const size = contentSize(frame);
  if (size !== undefined && size < maxChunk) return Math.max(64, size + 1);
  // By default zlib writes pieces of 16 KB, each in a turn of its own. A segment has some 40.
  return Math.min(Math.max(32 * frame.length, 16 * 1024), 1024 * 1024);
};

/**
 * Undoes {@link pack}.
 *
 * @throws Error if the bytes are damaged
 */
export const unpack = (frame: Uint8Array): Promise<Buffer> =>
  decompressAsync(frame, { chunkSize: chunkSize(frame) });

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
