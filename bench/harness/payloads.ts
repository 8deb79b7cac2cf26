import { constants, zstdCompressSync } from 'node:zlib';
import type { Call } from './calls.ts';

/** A call's payload as a segment stores it. */
export const payloadOf = ({ start, end }: Call): string =>
  [start.attributes, start.inputs, end.output, end.summary, end.exception]
    .map((value) => `${JSON.stringify(value)}\n`)
    .join('');

/** zstd's settings. Level 3 has those of segments (core/foundations/encoding/zstd.ts). */
export const zstdParams = (level = 3): Record<number, number> => ({
  [constants.ZSTD_c_compressionLevel]: level,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: 23,
});

/** Compresses as segments are, without the checksum. */
export const compress = (bytes: Buffer, level?: number, dictionary?: Buffer): Buffer =>
  zstdCompressSync(bytes, {
    params: zstdParams(level),
    pledgedSrcSize: bytes.length,
    ...(dictionary && { dictionary }),
  });
