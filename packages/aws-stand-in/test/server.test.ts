import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { DiskReport } from '../src/disk.ts';
import type { Doorkeeping } from '../src/loopback.ts';
import { freePort, type LocalServer, listen, PortTaken } from '../src/server.ts';

const servers: LocalServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

const serve = async (doorkeeping: Doorkeeping = {}, port = 0): Promise<number> => {
  const server = await listen(
    port,
    Promise.resolve((_, res) => res.end('served')),
    doorkeeping,
  );
  servers.push(server);
  return server.port;
};

/** The answer to a request with these headers, as a browser or a program may send them. */
const answer = (port: number, headers: Readonly<Record<string, string>>): Promise<string> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, headers }, (res) => text(res).then(resolve, reject));
    sent.on('error', reject).end();
  });

describe('a server', () => {
  it('takes a port that is free, and none that another has', async () => {
    const port = await serve({}, await freePort());
    await expect(serve({}, port)).rejects.toThrow(PortTaken);
    await expect(serve({}, port)).rejects.toThrow(`port ${port} is in use: end the process`);
  });

  it.each(['localhost', '127.0.0.1:80', '[::1]'])('serves whoever calls it %s', async (host) => {
    expect(await answer(await serve(), { host })).toBe('served');
  });

  it('refuses a name that may lead a page here, and says where others are allowed', async () => {
    const host = 'attacker.example';
    expect(await answer(await serve(), { host })).toBe(
      '{"message":"The host attacker.example is none of this service: use localhost or 127.0.0.1"}',
    );
    expect(await answer(await serve({ hostsSetting: 'HOSTS' }), { host })).toContain(
      ', or name it in HOSTS"',
    );
    expect(await answer(await serve({ hosts: [host] }), { host })).toBe('served');
  });

  it('refuses pages unless it is for them', async () => {
    const headers = { host: 'localhost', origin: 'https://page.example' };
    expect(await answer(await serve(), headers)).toContain('No page may use this port');
    expect(await answer(await serve({ pages: true }), headers)).toBe('served');
  });

  it('has requests wait for its listener', async () => {
    const { promise, resolve } = Promise.withResolvers<() => void>();
    const server = await listen(
      0,
      promise.then(() => (_, res) => res.end('late')),
    );
    servers.push(server);
    const waiting = answer(server.port, { host: 'localhost' });
    resolve(() => {});
    expect(await waiting).toBe('late');
  });
});

it('A full disk is told once, and so is its end', () => {
  const lines: string[] = [];
  const report = new DiskReport('/data', (line) => lines.push(line));
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  report.succeeded();
  report.failed(full);
  report.failed(full);
  report.succeeded();
  report.succeeded();
  expect(lines).toEqual([
    '/data cannot be written: the disk is full. Requests that write fail until some space is free',
    '/data can be written again',
  ]);
});
