import type { CallHeader } from '../calls/index.ts';
import type { Direction } from './request.ts';

/** Compares texts by code point, as UTF-8 does byte by byte; `<` on strings goes by UTF-16 code unit. */
export const compareText = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'));

/** Compares calls in a query's order: by `started_at` in its direction, then by `id` ascending. */
export const compareCalls =
  (direction: Direction) =>
  (a: CallHeader, b: CallHeader): number =>
    (direction === 'ascending' ? 1 : -1) * (a.start.startedAt - b.start.startedAt) || compareText(a.id, b.id);

/**
 * Puts calls that started in the same microsecond in order of their ids. They come in order of time, but scanned backwards the
 * ids are backwards too, and very long ones are known to the index by a digest.
 */
export async function* orderTies(
  direction: Direction,
  batches: AsyncIterable<CallHeader[]>,
): AsyncGenerator<CallHeader[]> {
  const compare = compareCalls(direction);
  let tied: CallHeader[] = [];
  for await (const batch of batches) {
    const settled: CallHeader[] = [];
    for (const call of batch) {
      if (tied[0] && tied[0].start.startedAt !== call.start.startedAt) {
        // Not spread into push: there can be more of them than a call may have arguments.
        for (const tie of tied.sort(compare)) settled.push(tie);
        tied = [];
      }
      tied.push(call);
    }
    if (settled.length > 0) yield settled;
  }
  if (tied.length > 0) yield tied.sort(compare);
}

/** Skips `offset` items and ends after `limit` more; null for no end. Nothing is asked for beyond it. */
export async function* cut<T>(
  offset: number,
  limit: number | null,
  batches: AsyncIterable<T[]>,
): AsyncGenerator<T[]> {
  let skip = offset;
  let left = limit ?? Number.POSITIVE_INFINITY;
  for await (const batch of batches) {
    const kept = batch.slice(skip, skip + left);
    skip = Math.max(0, skip - batch.length);
    left -= kept.length;
    if (kept.length > 0) yield kept;
    if (left === 0) return;
  }
}
