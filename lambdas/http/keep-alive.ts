import { setTimeout as sleep } from 'node:timers/promises';

/** Whether a promise is still pending after so many milliseconds. */
const isPendingAfter = async (promise: Promise<unknown>, ms: number): Promise<boolean> => {
  const done = new AbortController();
  const stop = () => done.abort();
  promise.then(stop, stop);
  return sleep(ms, true, { signal: done.signal }).catch(() => false);
};

/**
 * Puts a filler among items whenever the next one takes long, so that nobody takes the silence for
 * the end.
 *
 * @param silenceMs how long one may wait for an item or a filler, in milliseconds
 */
export async function* keptAlive<T>(
  items: AsyncIterable<T>,
  filler: T,
  silenceMs: number,
): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      while (await isPendingAfter(next, silenceMs)) yield filler;
      const item = await next;
      if (item.done) return;
      yield item.value;
    }
  } finally {
    await iterator.return?.();
  }
}
