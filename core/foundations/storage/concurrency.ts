import pMap, { pMapSkip } from 'p-map';

/**
 * Works on the items of a list, several at once. Results keep the list's order.
 *
 * After a failure it begins nothing more, and waits for what is under way before it throws. A
 * function that has answered is frozen: a write behind its answer would be done whenever it thaws.
 *
 * @param concurrency how many are under way at once
 * @throws the first failure
 */
export const mapConcurrent = async <T, R>(
  list: readonly T[],
  concurrency: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> => {
  const failures: unknown[] = [];
  const guarded = async (item: T, index: number): Promise<R | typeof pMapSkip> => {
    if (failures.length > 0) return pMapSkip;
    try {
      return await work(item, index);
    } catch (error) {
      failures.push(error);
      return pMapSkip;
    }
  };
  const results = await pMap(list, guarded, { concurrency });
  if (failures.length > 0) throw failures[0];
  return results;
};

/** The batches of one request that are under way at once. */
export const batchConcurrency = 8;

/** Cuts a list into runs of at most `size`. */
export const chunked = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
