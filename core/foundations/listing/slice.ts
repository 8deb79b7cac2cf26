/** Which items of a list are wanted: `limit` of them from `offset` on; null for all. */
export interface Slice {
  readonly offset: number;
  readonly limit: number | null;
}

/** A slice of a list. */
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
