import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { Agent, type ClientRequest, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { calls, noise, report } from '../support/endpoints/scenario.ts';
import { type FaultyProxy, startFaultyProxy } from '../support/faults/faulty-proxy.ts';
import { requires } from '../support/run/requirements.ts';
import { runs } from '../support/run/sampling.ts';
import { startService, type TestService } from '../support/service/service.ts';

/* Clients that send too much, too slowly, or go away, at the service as it is deployed. */

const project = 'acme/abandoned';

let proxy: FaultyProxy;
let service: TestService;
/** Storage waits for this before it does what it is asked for. */
let gate: Promise<void> = Promise.resolve();
beforeAll(async () => {
  proxy = await startFaultyProxy(inject('stores').dynamodb, async () => {
    await gate;
    return 'none' as const;
  });
  service = await startService({
    dynamodb: proxy.endpoint,
    // So that how many connections there are does not hang on how fast the machine is.
    concurrency: { maxWorkers: 2, maxWaiting: 500 },
  });
  const { path, body } = report(...calls(project, 60, { inputs: { text: noise(8000) } }));
  expect((await service.post(path, body)).status).toBe(200);
});
afterAll(async () => {
  await service.stop();
  await proxy[Symbol.asyncDispose]();
});

const headers = () => ({
  authorization: `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`,
  'content-type': 'application/json',
});

const head = (path: string, length: number, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${headers().authorization}\r\n${more}content-length: ${length}\r\n\r\n`;

/** A connection of its own to the service. */
const dial = async (): Promise<Socket> => {
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
};

/** What comes on a connection until it is closed, or an answer's head has come. */
const answerOn = async (socket: Socket): Promise<string> => {
  let answer = '';
  for await (const data of socket) {
    answer += data;
    if (answer.includes('\r\n\r\n')) break;
  }
  return answer;
};

const start = (id: string) => ({
  start: { project_id: project, id, op_name: 'op', started_at: '2026-10-01T00:00:00Z' },
});
const readCall = async (id: string): Promise<unknown> => {
  const answer = await service.post('/call/read', { project_id: project, id });
  return ((await answer.json()) as { call: unknown }).call;
};

describe('a client that is slow', () => {
  it('is answered when it has sent its body, byte by byte', async () => {
    const body = JSON.stringify({ project_id: project, id: '1' });
    const socket = await dial();
    socket.setNoDelay(true);
    socket.write(head('/call/read', body.length));
    for (const character of body) {
      socket.write(character);
      await new Promise(setImmediate);
    }
    expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 200 /);
  });

  it('holds nobody else up, nor do hundreds that say nothing', async () => {
    const idle = await Promise.all(Array.from({ length: 300 }, dial));
    for (const [i, socket] of idle.entries()) {
      if (i % 3 === 0) socket.write('POST /call/read HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
      if (i % 3 === 1) socket.write(`${head('/call/read', 1000)}{`);
    }
    expect((await service.post('/call/read', { project_id: project, id: '1' })).status).toBe(200);
    for (const socket of idle) socket.destroy();
  });
});

describe('a request that is too much', () => {
  it('of headers is refused, and harms nobody', async () => {
    const socket = await dial();
    socket.write(head('/call/read', 0, `x-huge: ${'x'.repeat(100_000)}\r\n`));
    expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 4\d\d /);
    expect((await service.post('/call/read', { project_id: project, id: '1' })).status).toBe(200);
  });
});

describe('a client that goes away', () => {
  it('while it sends has written nothing', async () => {
    const body = JSON.stringify(start('unsent'));
    const socket = await dial();
    socket.write(head('/call/start', body.length) + body.slice(0, -1));
    const before = proxy.requests.length;
    socket.destroy();
    await once(socket, 'close');
    expect(await readCall('unsent')).toBeNull();
    const written = proxy.requests.slice(before).map(({ operation }) => operation);
    expect(written.filter((operation) => /Write|Execute|Put/.test(operation))).toEqual([]);
  });

  it('before its answer has written all of it, or nothing', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = proxy.requests.length;
    gate = promise;
    const socket = await dial();
    const body = JSON.stringify(start('unheard'));
    socket.write(head('/call/start', body.length) + body);
    await expect.poll(() => proxy.requests.length).toBeGreaterThan(before);
    socket.destroy();
    await once(socket, 'close');
    gate = Promise.resolve();
    resolve();
    // The function is not stopped by it: it does what it was asked for.
    await expect.poll(() => readCall('unheard')).toMatchObject({ id: 'unheard', op_name: 'op' });
  });
});

/** How many sockets this process has open: those of the service, its functions and its clients. */
const openSockets = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;

describe('requests that are done, refused and abandoned', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const begin = (path: string, body: object): ClientRequest => {
    const sent = request(`${service.url}${path}`, { method: 'POST', agent, headers: headers() });
    sent.on('error', () => {});
    sent.end(JSON.stringify(body));
    return sent;
  };
  const whole = async (path: string, body: object): Promise<number> => {
    const [answer] = await once(begin(path, body), 'response');
    await text(answer);
    return answer.statusCode;
  };
  /** Goes away with the first bytes of an answer, or without waiting for any. */
  const leave = async (body: object, early: boolean): Promise<void> => {
    const sent = begin('/calls/stream_query', body);
    if (early) await once(sent, 'socket');
    else {
      const [answer] = await once(sent, 'response');
      answer.on('error', () => {});
      await once(answer, 'readable');
    }
    // An error comes first, which `once` would take for its own.
    const closed = new Promise((resolve) => sent.once('close', resolve));
    sent.destroy();
    await closed;
  };
  const mix = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++)
      await Promise.all([
        whole('/call/start', start(`leak ${i}`)),
        whole('/call/read', { project_id: project, id: '1' }),
        whole('/call/read', { project_id: 'no project' }),
        whole('/calls/stream_query', { project_id: project, limit: 5 }),
        leave({ project_id: project }, false),
        leave({ project_id: project }, true),
      ]);
  };

  it('leave no connection open, and nothing under way', requires('/proc, which Linux has'), async () => {
    await mix(5);
    const sockets = openSockets();
    const resources = process.getActiveResourcesInfo().length;
    await mix(runs(12, 80));
    await expect.poll(openSockets).toBeLessThanOrEqual(sockets + 8);
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(resources + 16);
    agent.destroy();
    // The projects of writes are noted beside their answers.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const requests = proxy.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(proxy.requests.length).toBe(requests);
  });
});
