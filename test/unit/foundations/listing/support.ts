/** Gives a list in batches of the given sizes, over and over. */
export async function* batchesFrom<T>(list: readonly T[], sizes: readonly number[]): AsyncGenerator<T[]> {
  let at = 0;
  for (let i = 0; at < list.length; i++) {
    const size = Math.max(1, sizes[i % Math.max(1, sizes.length)] ?? 1);
    yield list.slice(at, at + size);
    at += size;
  }
}

/** All items of batches. */
export const collect = async <T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> =>
  (await Array.fromAsync(batches)).flat();

/** Lets everything that is ready take its turn. */
export const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
