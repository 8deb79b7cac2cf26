import type { CallRow } from './row.ts';

/** Payloads are read in batches of so many bytes, or one call. */
const batchBytes = 4 * 1024 * 1024;

/** Cuts calls into batches whose payloads are at most 4 MB together, or one call. */
export const bySize = (rows: readonly CallRow[]): CallRow[][] => {
  const batches: CallRow[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const { start, end } = row.header;
    const length = start.payload.length + (end?.payload.length ?? 0);
    if (bytes + length > batchBytes) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(row);
    bytes += length;
  }
  return batches;
};

/** Asks for the next item while one is used: for iterations that will want all of them. */
export async function* ahead<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  const ask = (): Promise<IteratorResult<T>> => {
    const next = iterator.next();
    // Whoever awaits the item sees its failure; until then it must not count as unhandled.
    next.catch(() => {});
    return next;
  };
  try {
    for (let coming = ask(); ; ) {
      const { done, value } = await coming;
      if (done) return;
      coming = ask();
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
