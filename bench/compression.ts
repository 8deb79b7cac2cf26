/** What payloads are compressed to, by how many calls lie in a segment and how hard zstd tries. */
import { counted } from './figures.ts';
import type { Part } from './part.ts';
import { compressedBytes } from './profile.ts';

const together = [1, 25, 100];
const levels = [1, 3, 6, 9];

/** Bytes a call of compressed payload. The service compresses at level 3. */
export const compression: Part = {
  name: 'compression',
  title: 'Payloads as segments hold them',
  run: async ({ calls }) =>
    together.flatMap((size) =>
      levels.map((level) =>
        counted(`${size} calls, level ${level}`, 'bytes a call', compressedBytes(calls, size, level)),
      ),
    ),
};
