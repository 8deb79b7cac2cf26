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
