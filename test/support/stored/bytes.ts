import { createHash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { withMarkers, withoutMarkers } from './noise.ts';

/**
 * Bytes in a file: base64; of a large zstd frame its content, with markers for noise, and the
 * SHA-256 of the frame.
 */
export type WrittenBytes = string | { readonly zstd: string; readonly sha256: string };

const magic = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);
/** Frames of more bytes are large. */
const maxWrittenFrame = 4096;

/** The parameters that payloads have been compressed with since the first release. */
const params = {
  [constants.ZSTD_c_compressionLevel]: 3,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: 23,
  [constants.ZSTD_c_checksumFlag]: 1,
};

const isFrame = (bytes: Uint8Array): boolean => magic.equals(bytes.subarray(0, magic.length));

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** What a frame holds, as text; undefined for bytes that are no frame. */
const contentOf = (bytes: Uint8Array): string | undefined =>
  isFrame(bytes) ? zstdDecompressSync(bytes).toString('utf8') : undefined;

/** Writes bytes for a file. */
export const writeBytes = (bytes: Uint8Array): WrittenBytes => {
  const content = bytes.length > maxWrittenFrame ? contentOf(bytes) : undefined;
  if (content === undefined) return Buffer.from(bytes).toString('base64');
  return { zstd: withMarkers(content), sha256: sha256(bytes) };
};

/** Reads bytes from a file. Another version of zstd makes other frames of the same content. */
export const readBytes = (written: WrittenBytes): Buffer => {
  if (typeof written === 'string') return Buffer.from(written, 'base64');
  const content = Buffer.from(withoutMarkers(written.zstd), 'utf8');
  return zstdCompressSync(content, { params, pledgedSrcSize: content.length });
};

/** The same bytes in the form in which those of two versions of zstd are equal. */
export const comparableBytes = (written: WrittenBytes): WrittenBytes | { readonly zstd: string } => {
  if (typeof written !== 'string') return { zstd: written.zstd };
  const content = contentOf(Buffer.from(written, 'base64'));
  return content === undefined ? written : { zstd: withMarkers(content) };
};
