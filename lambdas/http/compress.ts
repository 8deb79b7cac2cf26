import { constants, createGzip, createZstdCompress } from 'node:zlib';
import type { Coding } from './accept.ts';
import type { Encoder } from './sending.ts';

/**
 * Makes a compressor that flushes whatever is written to it, so that no line waits for the next.
 * Both have the levels that Node gives them: 6 of gzip, 3 of zstd.
 */
export const compressor = (coding: Coding): Encoder =>
  coding === 'zstd'
    ? createZstdCompress({ flush: constants.ZSTD_e_flush })
    : createGzip({ flush: constants.Z_SYNC_FLUSH });
