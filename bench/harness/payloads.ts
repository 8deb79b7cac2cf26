import { constants, zstdCompressSync } from 'node:zlib';
import type { Call } from './calls.ts';

/** A call's payload as a segment holds it. */
export const payloadOf = ({ start, end }: Call): string =>
  [start.attributes, start.inputs, end.output, end.summary, end.exception]
    .map((value) => `${JSON.stringify(value)}\n`)
    .join('');

/** zstd's settings at a level: those of segments (core/encoding/zstd.ts) at 3. */
export const zstdParams = (level = 3): Record<number, number> => ({
  [constants.ZSTD_c_compressionLevel]: level,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: 23,
});

/** Compresses as a segment is, but for its checksum. */
export const compress = (bytes: Buffer, level?: number, dictionary?: Buffer): Buffer =>
  zstdCompressSync(bytes, {
    params: zstdParams(level),
    pledgedSrcSize: bytes.length,
    ...(dictionary && { dictionary }),
  });
