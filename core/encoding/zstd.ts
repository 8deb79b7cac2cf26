import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';

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
 * Compresses with zstd. The frame has a checksum, and says how long its content is: whoever unpacks
 * it needs no more memory than that.
 */
export const pack = (bytes: Uint8Array): Promise<Buffer> =>
  compressAsync(bytes, { params, pledgedSrcSize: bytes.length });

/** A magic number, what it is like, a byte for the window and eight for the length. */
const maxHeader = 14;

/** How long the field is that says the content's length, by the frame's own code for it. */
const lengthOfSize = [1, 2, 4, 8] as const;

/**
 * How many bytes a frame's content has, by RFC 8878, 3.1.1.1; undefined where it does not say, or
 * is shorter than the longest header, so that nothing is gained by asking.
 *
 * @param frame one that {@link pack} made, perhaps before it said so
 */
export const contentSize = (frame: Uint8Array): number | undefined => {
  if (frame.length < maxHeader) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const descriptor = view.getUint8(4);
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  const length = lengthOfSize[(descriptor >> 6) as 0 | 1 | 2 | 3];
  // A byte for the window comes first, unless the content itself is one; there are no dictionaries
  // here.
  const at = isSingleSegment ? 5 : 6;
  if (length === 1) return isSingleSegment ? view.getUint8(at) : undefined;
  if (length === 2) return view.getUint16(at, true) + 256;
  return length === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
};

/** More is allocated piece by piece, whatever a frame says. */
const maxChunk = 64 * 1024 * 1024;

/**
 * How much to make room for at once: all, and a byte to see that there is no more; otherwise what
 * segments come to.
 */
const chunkSize = (frame: Uint8Array): number => {
  const size = contentSize(frame);
  if (size !== undefined && size < maxChunk) return Math.max(64, size + 1);
  // zlib gives its output in pieces of 16 KB, each a turn of its own, and a segment is some 40 of
  // them.
  return Math.min(Math.max(32 * frame.length, 16 * 1024), 1024 * 1024);
};

/**
 * Undoes {@link pack}.
 *
 * @throws Error when the bytes are damaged
 */
export const unpack = (frame: Uint8Array): Promise<Buffer> =>
  decompressAsync(frame, { chunkSize: chunkSize(frame) });
