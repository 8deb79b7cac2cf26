/** What compressing the answer of an export takes, and what is left to send. */

import { buffer } from 'node:stream/consumers';
import { codings } from '../../lambdas/http/accept.ts';
import { compressor } from '../../lambdas/http/compress.ts';
import type { Call } from '../harness/calls.ts';
import { counted, type Figure, measured, median } from '../harness/figures.ts';
import type { BenchPart } from '../harness/part.ts';

/** How many calls go out at once: about what the payload reader has read by then. */
const pieceSize = 100;

/** The lines of an export, in the pieces in which an answer goes out. */
const piecesOf = (calls: readonly Call[]): Buffer[] => {
  const pieces: Buffer[] = [];
  for (let i = 0; i < calls.length; i += pieceSize) {
    const lines = calls.slice(i, i + pieceSize).map(({ start, end }) => JSON.stringify({ ...start, ...end }));
    pieces.push(Buffer.from(`${lines.join('\n')}\n`));
  }
  return pieces;
};

interface Compressed {
  /** Bytes of the answer. */
  readonly bytes: number;
  /** CPU time of this process with all threads, in ms. */
  readonly ms: number;
}

const compress = async (coding: (typeof codings)[number], pieces: readonly Buffer[]): Promise<Compressed> => {
  const before = process.cpuUsage();
  const stream = compressor(coding);
  const answer = buffer(stream);
  for (const piece of pieces) await new Promise((taken) => stream.write(piece, taken));
  stream.end();
  const { length: bytes } = await answer;
  const { user, system } = process.cpuUsage(before);
  return { bytes, ms: (user + system) / 1000 };
};

const rounds = 7;

const run = async (calls: readonly Call[]): Promise<Figure[]> => {
  const pieces = piecesOf(calls);
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const figures: Figure[] = [];
  const times: number[] = [];
  const sizes: number[] = [];
  for (const coding of codings) {
    const taken: Compressed[] = [];
    for (let round = 0; round < rounds; round++) taken.push(await compress(coding, pieces));
    const ms = taken.map((each) => (each.ms / bytes) * 1e6);
    times.push(median(ms));
    sizes.push(taken[0]?.bytes ?? 0);
    figures.push(measured(`${coding}: CPU`, 'ms a MB', ms));
    figures.push(counted(`${coding}: bytes`, 'share of JSON', (taken[0]?.bytes ?? 0) / bytes));
  }
  const [zstdMs = 0, gzipMs = 0] = times;
  const [zstdBytes = 0, gzipBytes = 0] = sizes;
  return [
    ...figures,
    counted('zstd against gzip: CPU', 'ratio', zstdMs / gzipMs),
    counted('zstd against gzip: bytes', 'ratio', zstdBytes / gzipBytes),
  ];
};

/** CPU time and bytes of compressed answers. */
export const encodings: BenchPart = {
  name: 'encodings',
  title: `Compressing an export as JSON Lines, ${pieceSize} calls at a time, each flushed`,
  run: ({ calls }) => run(calls),
};
