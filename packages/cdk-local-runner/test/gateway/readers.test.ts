import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { defaultPoolLimits, type PoolLimits } from '../../src/runtime/functions.ts';
import { type FixtureGateway, startFixture } from '../fixtures/gateway.ts';

const long = 3_600_000;

let api: FixtureGateway;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await api.stop();
});

const serve = async (limits: Pick<PoolLimits, 'maxWorkers' | 'maxHeld' | 'stalledMs'>, idleMs?: number) => {
  api = await startFixture(
    { routes: [{ path: '/stream', handler: 'streaming', streaming: true }] },
    {
      concurrency: { maxWorkers: limits.maxWorkers, maxWaiting: 100 },
      poolLimits: { ...defaultPoolLimits, ...limits },
      ...(idleMs !== undefined && { idleMs }),
    },
  );
};

interface Reader {
  readonly socket: Socket;
  /** The bytes that were read. */
  taken: number;
  closed: boolean;
}

interface BeginOptions {
  /** How often it reads what there is. @default - it never does */
  readonly everyMs?: number;
  /** A file that the function writes when it ends. @default - none */
  readonly note?: string;
}

/** Asks for 64 MiB over a connection of its own, and waits until the answer has begun. */
const begin = async ({ everyMs, note = '/dev/null' }: BeginOptions = {}): Promise<Reader> => {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  const reader = { socket, taken: 0, closed: false };
  sockets.push(socket);
  socket.on('error', () => {}).on('close', () => Object.assign(reader, { closed: true }));
  const head = ['POST /stream HTTP/1.1', 'host: localhost', 'authorization: ada', 'content-type: text/plain'];
  socket.write([...head, `x-note: ${note}`, 'content-length: 5', '', 'flood'].join('\r\n'));
  await new Promise<void>((resolve, reject) => {
    socket.once('close', () => reject(new Error('the connection was closed before an answer began')));
    socket.once('data', () => {
      socket.pause();
      resolve();
    });
  });
  if (everyMs === undefined) return reader;
  socket.on('data', (bytes) => {
    reader.taken += bytes.length;
    socket.pause();
    setTimeout(() => socket.resume(), everyMs);
  });
  socket.resume();
  return reader;
};

const lines = async () => (await api.post('/stream', 'lines')).text();

describe('readers who take nothing', () => {
  it('leave room for others, and go on later', async () => {
    await serve({ maxWorkers: 2, maxHeld: 3, stalledMs: long });
    const readers = [await begin(), await begin(), await begin(), await begin()];
    expect(await lines()).toBe('one\ntwo\nthree\n');
    expect(readers.map(({ closed }) => closed)).toEqual([false, false, false, false]);
    const [first] = readers;
    let taken = 0;
    first?.socket.on('data', (bytes) => {
      taken += bytes.length;
    });
    first?.socket.resume();
    await expect.poll(() => taken).toBeGreaterThan(60 * 1024 * 1024);
  });

  it('are given up when others wait and there is no more room, the one who took nothing for longest', async () => {
    await serve({ maxWorkers: 2, maxHeld: 1, stalledMs: 200 });
    const readers = [await begin(), await begin(), await begin()];
    expect(await lines()).toBe('one\ntwo\nthree\n');
    for (const { socket } of readers) socket.resume();
    await expect.poll(() => readers[0]?.closed).toBe(true);
    expect(readers.map(({ closed }) => closed)).toEqual([true, false, false]);
    expect(api.log.filter((line) => line.includes('while other requests waited'))).toHaveLength(1);
  });

  it('never have more workers than there may be, however many there are', async () => {
    await serve({ maxWorkers: 2, maxHeld: 2, stalledMs: 100 });
    const readers: Reader[] = [];
    for (let i = 0; i < 12; i += 1) readers.push(await begin());
    for (const { socket } of readers) socket.on('data', () => {}).resume();
    // What was given up ends early, so those are known that go on.
    await expect.poll(() => readers.filter(({ closed }) => closed).length).toBe(8);
    expect(await lines()).toBe('one\ntwo\nthree\n');
  });

  it('are cut off after a while, as by API Gateway', async () => {
    await serve({ maxWorkers: 2, maxHeld: 2, stalledMs: long }, 3000);
    // A function that has started answers long before the connection counts as idle.
    await lines();
    const note = join(mkdtempSync(join(tmpdir(), 'reader-')), 'note');
    const reader = await begin({ note });
    // The function notes its end. A client notices a closed connection only while it reads.
    await expect.poll(() => existsSync(note)).toBe(true);
    rmSync(dirname(note), { recursive: true });
    reader.socket.on('data', () => {}).resume();
    await expect.poll(() => reader.closed).toBe(true);
  });
});

it('A reader who is slow is not given up, and leaves room for others', async () => {
  await serve({ maxWorkers: 1, maxHeld: 1, stalledMs: 3000 });
  const slow = await begin({ everyMs: 20 });
  const stalled = await begin();
  expect(await lines()).toBe('one\ntwo\nthree\n');
  stalled.socket.on('data', () => {}).resume();
  await expect.poll(() => stalled.closed).toBe(true);
  const { taken } = slow;
  await expect.poll(() => slow.taken).toBeGreaterThan(taken);
  expect(slow.closed).toBe(false);
});
