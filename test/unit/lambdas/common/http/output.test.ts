import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { keptAlive, Output } from '../../../../../lambdas/common/http/stream.ts';

const kilobyte = Buffer.alloc(1024, 'x');
const megabyte = Buffer.alloc(1024 * 1024, 'y');

describe('the output of an answer', () => {
  it('passes on every byte, and counts them', async () => {
    const output = new Output(60_000);
    const read = buffer(output);
    await pipeline(Readable.from([kilobyte, megabyte, kilobyte]), output);
    expect(Buffer.concat([kilobyte, megabyte, kilobyte]).equals(await read)).toBe(true);
    expect([output.passed, output.taken]).toEqual([megabyte.length + 2048, megabyte.length + 2048]);
  });

  it('fails if nothing is taken for a while', async () => {
    const output = new Output(50);
    output.write(megabyte);
    const [error] = await once(output, 'error');
    expect(error).toMatchObject({ name: 'Stalled' });
  });

  it('waits for a reader that is slow', async () => {
    const output = new Output(60);
    output.end(megabyte);
    let bytes = 0;
    for await (const piece of output) {
      bytes += piece.length;
      await sleep(10);
    }
    expect(bytes).toBe(megabyte.length);
  });

  it('waits for a source that is slow', async () => {
    const output = new Output(20);
    const read = buffer(output);
    output.write(kilobyte);
    await sleep(80);
    output.end(kilobyte);
    expect((await read).length).toBe(2048);
  });
});

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
