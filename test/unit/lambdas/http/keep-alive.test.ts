import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { keptAlive } from '../../../../lambdas/http/stream.ts';

const all = async (items: AsyncIterable<string>): Promise<string[]> => {
  const got: string[] = [];
  for await (const item of items) got.push(item);
  return got;
};

describe('items that are kept alive', () => {
  it('come alone if they come in time', async () => {
    const items = (async function* () {
      yield 'a';
      yield 'b';
    })();
    expect(await all(keptAlive(items, '.', 60_000))).toEqual(['a', 'b']);
  });

  it('have fillers before them, between them and behind them while they are silent', async () => {
    const items = (async function* () {
      await sleep(30);
      yield 'a';
      await sleep(30);
      yield 'b';
      await sleep(30);
    })();
    expect((await all(keptAlive(items, '.', 5))).join('')).toMatch(/^\.+a\.+b\.+$/);
  });

  it('fail as their source does, also behind fillers', async () => {
    // biome-ignore lint/correctness/useYield: it never gets so far.
    const items = (async function* (): AsyncGenerator<string> {
      await sleep(20);
      throw new Error('boom');
    })();
    await expect(all(keptAlive(items, '.', 5))).rejects.toThrow('boom');
  });

  it('end their source when they are ended', async () => {
    let ended = false;
    const items = (async function* () {
      try {
        yield 'a';
        yield 'b';
      } finally {
        ended = true;
      }
    })();
    for await (const _ of keptAlive(items, '.', 60_000)) break;
    expect(ended).toBe(true);
  });
});
