import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { post } from '../../../../../core/doors/inference/post.ts';

afterEach(() => vi.useRealTimers());

const never = new AbortController().signal;

describe('a connection', () => {
  it('is reused at once, but not after a pause in which its server may have closed it', async () => {
    const ports: (number | undefined)[] = [];
    const server = createServer((req, res) => {
      ports.push(req.socket.remotePort);
      res.end('ok');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const ask = async () =>
      text(await post(new URL(`http://127.0.0.1:${port}/`), {}, Buffer.from('{}'), never));

    vi.useFakeTimers({ toFake: ['Date'] });
    await ask();
    await ask();
    vi.setSystemTime(Date.now() + 4500);
    await ask();
    expect(ports[1]).toBe(ports[0]);
    expect(ports[2]).not.toBe(ports[0]);
    server.closeAllConnections();
    server.close();
  });

  it('fails with an error if it cannot be made', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, 'close');
    await expect(post(new URL(`http://127.0.0.1:${port}/`), {}, Buffer.from('{}'), never)).rejects.toThrow(
      'ECONNREFUSED',
    );
  });

  it('ends with its signal', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const ending = new AbortController();
    const answer = post(new URL(`http://127.0.0.1:${port}/`), {}, Buffer.from('{}'), ending.signal);
    await once(server, 'request');
    ending.abort();
    await expect(answer).rejects.toThrow('aborted');
    server.closeAllConnections();
    server.close();
  });
});
