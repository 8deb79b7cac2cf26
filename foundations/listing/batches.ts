import { chunked } from '../storage/index.ts';

/**
 * Cuts a list into runs of at most so many bytes, in order. An item that is larger makes a run of
 * its own.
 *
 * @param sizeOf the bytes of an item
 */
export const bySize = <T>(list: readonly T[], maxBytes: number, sizeOf: (item: T) => number): T[][] => {
  const runs: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of list) {
    const size = sizeOf(item);
    if (bytes + size > maxBytes) {
      runs.push([]);
      bytes = 0;
    }
    runs.at(-1)?.push(item);
    bytes += size;
  }
  return runs;
};

/** Cuts each batch as {@link bySize} does. Batches are never joined. */
export async function* inBatches<T>(
  batches: AsyncIterable<readonly T[]>,
  maxBytes: number,
  sizeOf: (item: T) => number,
): AsyncGenerator<readonly T[]> {
  for await (const batch of batches) yield* bySize(batch, maxBytes, sizeOf);
}

/** Changes batches one by one, as they are asked for, and leaves out those that become empty. */
export async function* mapBatches<T, R>(
  batches: AsyncIterable<readonly T[]>,
  change: (batch: readonly T[]) => readonly R[] | Promise<readonly R[]>,
): AsyncGenerator<readonly R[]> {
  for await (const batch of batches) {
    const changed = await change(batch);
    if (changed.length > 0) yield changed;
  }
}

/** A count that grows while something is iterated. */
interface SentCount {
  sent: number;
}

/** The most items that are sent at once: an answer that has grown too long ends between two batches. */
const sentAtOnce = 500;

/** Encodes what is answered, and counts it. */
export async function* encodeBatches<T>(
  batches: AsyncIterable<readonly T[]>,
  counts: SentCount,
  encode: (item: T) => string,
): AsyncGenerator<readonly string[]> {
  for await (const batch of batches)
    for (const some of chunked(batch, sentAtOnce)) {
      counts.sent += some.length;
      yield some.map(encode);
    }
}

/** Which items of a list are wanted: `limit` of them from `offset` on; null for all. */
export interface Slice {
  readonly offset: number;
  readonly limit: number | null;
}

export const sliceOf = <T>(list: readonly T[], { offset, limit }: Slice): T[] =>
  list.slice(offset, limit === null ? undefined : offset + limit);

/** Takes a slice of what comes in batches. Nothing is asked for beyond it. */
export async function* takeSlice<T>(
  { offset, limit }: Slice,
  batches: AsyncIterable<readonly T[]>,
): AsyncGenerator<readonly T[]> {
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

/**
 * Does work on items, several at once, and gives the results in the order of the items. Only what
 * has been asked for is begun, and up to `ahead` items more. Ending the iteration waits for what is
 * under way and ends that of the items.
 *
 * @param ahead how many results are made while one is used; 0 for readers who may not want them
 * @throws what `work` throws, after the results before it
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
    // Whoever awaits it sees its failure. Until then it must not count as unhandled.
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
