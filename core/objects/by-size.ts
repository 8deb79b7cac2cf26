/**
 * Cuts a list into runs of at most so many bytes each, in order; what is larger by itself is a run
 * of its own.
 *
 * @param sizeOf the bytes of an item
 */
export const bySize = <T>(list: readonly T[], most: number, sizeOf: (item: T) => number): T[][] => {
  const runs: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of list) {
    const size = sizeOf(item);
    if (bytes + size > most) {
      runs.push([]);
      bytes = 0;
    }
    runs.at(-1)?.push(item);
    bytes += size;
  }
  return runs;
};
