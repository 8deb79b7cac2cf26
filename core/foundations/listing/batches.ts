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
export interface SentCount {
  sent: number;
}

/** Encodes what is answered, and counts it. */
export const encodeBatches = <T>(
  batches: AsyncIterable<readonly T[]>,
  counts: SentCount,
  encode: (item: T) => string,
): AsyncGenerator<readonly string[]> =>
  mapBatches(batches, (batch) => {
    counts.sent += batch.length;
    return batch.map(encode);
  });
