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

/** Cuts batches of calls into such as {@link bySize} makes. */
export async function* inParts(batches: AsyncIterable<readonly CallRow[]>): AsyncGenerator<CallRow[]> {
  for await (const batch of batches) yield* bySize(batch);
}

/**
 * Does work on items, several at once, and gives the results in the order of the items. No more is
 * begun than what has been asked for and so many ahead; ending the iteration ends that of the
 * items.
 *
 * @param ahead how many results are being made while one is used; 0 for iterations that may not
 * want them
 */
export async function* mapAhead<T, R>(
  items: AsyncIterable<T>,
  ahead: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const coming: Promise<{ readonly result: R } | undefined>[] = [];
  const iterator = items[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();
  const begin = (): void => {
    const item = last.then(() => iterator.next());
    const next = item.then(async ({ done, value }) => (done ? undefined : { result: await work(value) }));
    // Whoever awaits it sees its failure; until then it must not count as unhandled.
    next.catch(() => {});
    last = item;
    last.catch(() => {});
    coming.push(next);
  };
  try {
    // It begins with none ahead: who takes the first result may want no more.
    for (let depth = 0; ; depth = Math.min(ahead, depth + 1)) {
      while (coming.length <= depth) begin();
      const next = await coming.shift();
      if (next === undefined) return;
      while (coming.length < depth) begin();
      yield next.result;
    }
  } finally {
    await Promise.allSettled(coming);
    await iterator.return?.();
  }
}
