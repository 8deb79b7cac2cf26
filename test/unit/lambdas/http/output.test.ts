import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Output } from '../../../../lambdas/http/stream.ts';

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
