/**
 * Cuts a list into runs of at most so many bytes, in order. An item that is larger makes a run of
 * its own.
 *
 * @param getSize the bytes of an item
 */
export const bySize = <T>(list: readonly T[], maxBytes: number, getSize: (item: T) => number): T[][] => {
  const runs: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of list) {
    const size = getSize(item);
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
  getSize: (item: T) => number,
): AsyncGenerator<readonly T[]> {
  for await (const batch of batches) yield* bySize(batch, maxBytes, getSize);
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
/** About the most characters that are sent at once, but for a single item. A slow reader holds so much in memory. */
const charactersAtOnce = 512 * 1024;

/** Encodes what is answered, and counts it. */
export async function* encodeBatches<T>(
  batches: AsyncIterable<readonly T[]>,
  counts: SentCount,
  encode: (item: T) => string,
): AsyncGenerator<readonly string[]> {
  for await (const batch of batches) {
    let texts: string[] = [];
    let characters = 0;
    for (const [index, item] of batch.entries()) {
      const text = encode(item);
      texts.push(text);
      characters += text.length;
      const isLast = index === batch.length - 1;
      if (!isLast && texts.length < sentAtOnce && characters < charactersAtOnce) continue;
      counts.sent += texts.length;
      yield texts;
      texts = [];
      characters = 0;
    }
  }
}

/** Which items of a list are wanted: `limit` of them from `offset` on; null for all. */
export interface Slice {
  readonly offset: number;
  readonly limit: number | null;
}

export const cutSlice = <T>(list: readonly T[], { offset, limit }: Slice): T[] =>
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
 * has been asked for is begun, and some items more: one, and another each time that a result is not there
 * when it is wanted. So whoever reads slowly keeps few results in memory. Ending the iteration waits for
 * what is under way and ends that of the items.
 *
 * @param ahead the most results that are made while one is used; 0 for readers who may not want them
 * @throws what `work` throws, after the results before it
 */
export async function* mapAhead<T, R>(
  items: AsyncIterable<T>,
  ahead: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const coming: { readonly next: Promise<{ readonly result: R } | undefined>; ready: boolean }[] = [];
  const iterator = items[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();
  const begin = (): void => {
    const item = last.then(() => iterator.next());
    const next = item.then(async ({ done, value }) => (done ? undefined : { result: await work(value) }));
    const begun = { next, ready: false };
    const settle = () => {
      begun.ready = true;
    };
    // Whoever awaits it sees its failure. Until then it must not count as unhandled.
    next.then(settle, settle);
    last = item;
    last.catch(() => {});
    coming.push(begun);
  };
  try {
    // It begins with none ahead: who takes the first result may want no more.
    let depth = 0;
    for (;;) {
      const isLate = coming[0]?.ready === false;
      if (isLate) depth = Math.min(ahead, depth + 1);
      while (coming.length <= depth) begin();
      const next = await coming.shift()?.next;
      if (next === undefined) return;
      while (coming.length < depth) begin();
      yield next.result;
      depth ||= Math.min(ahead, 1);
    }
  } finally {
    await Promise.allSettled(coming.map(({ next }) => next));
    await iterator.return?.();
  }
}
