import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixtureGateway, startFixture } from '../../../support/fixtures/gateway.ts';

/** How long something may take on a machine that is busy. */
const patience = { timeout: 20_000 };

const notes = mkdtempSync(join(tmpdir(), 'pennytrace-notes-'));

let api: FixtureGateway;
beforeAll(async () => {
  api = await startFixture({
    routes: [
      { path: '/stream', handler: 'streaming', streaming: true },
      { path: '/short', handler: 'streaming', streaming: true, timeoutSeconds: 1 },
      { path: '/impatient', handler: 'streaming', streaming: true, integrationMs: 300 },
      { path: '/buffered', handler: 'plain', streaming: true },
    ],
  });
});
afterAll(async () => {
  await api.stop();
  rmSync(notes, { recursive: true });
});

let noted = 0;
/** A file for a function to say what became of its stream. */
const newNote = (): string => {
  noted += 1;
  return join(notes, String(noted));
};

const readNote = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Sends a request and gives its answer as soon as the head is there, unread. */
const begin = async (body: string, note: string): Promise<IncomingMessage> => {
  const headers = { authorization: 'ada', 'x-note': note };
  const req = httpRequest(`${api.url}/stream`, { method: 'POST', headers, agent: false });
  req.on('error', () => {});
  req.end(body);
  const [response] = await once(req, 'response');
  return response;
};

describe('a streamed answer', () => {
  it('comes with its head and its body', async () => {
    const response = await api.post('/stream', 'lines');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain');
    expect(response.headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await response.text()).toBe('one\ntwo\nthree\n');
  });

  it('may have any status, headers and cookies, and an empty start', async () => {
    const response = await api.post('/stream', 'metadata');
    expect(response.status).toBe(202);
    expect(response.headers.get('x-one')).toBe('1');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.text()).toBe('{}');
  });

  it('is sent as it is written, without delay', async () => {
    const note = newNote();
    const response = await begin('in step', note);
    const [first] = await once(response, 'data');
    expect(String(first)).toBe('first half');
    writeFileSync(note, '');
    expect(await text(response)).toBe('second half');
  });

  it('follows another one on the same connection', async () => {
    for (let i = 0; i < 3; i += 1)
      expect(await (await api.post('/stream', 'lines')).text()).toBe('one\ntwo\nthree\n');
  });
});

describe('a function that fails before its answer starts', () => {
  it.each(['throw before', 'no metadata'])('is answered with 502: %s', async (way) => {
    const response = await api.post('/stream', way);
    expect(response.status).toBe(502);
    expect(await response.json()).toEqual({ type: 'BAD_GATEWAY' });
  });

  it('is answered with 502 if it does not stream', async () => {
    expect((await api.post('/buffered', 'count')).status).toBe(502);
  });
});

describe('an answer that fails half way breaks off', () => {
  /**
   * The raw bytes of the answer to a request, up to the end of the connection. They are read after
   * so many milliseconds.
   */
  const raw = async (path: string, body: string, afterMs = 0): Promise<string> => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: ada\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    let answer = '';
    // A reset is as good an end as any.
    socket.on('error', () => {});
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    socket.on('data', (data) => {
      answer += data;
    });
    await new Promise((resolve) => socket.once('close', resolve));
    return answer;
  };

  it.each([
    ['/stream', 'throw after'],
    ['/stream', 'fail in a pipeline'],
    ['/stream', 'exit after'],
    ['/short', 'hang after'],
    ['/impatient', 'hang after'],
  ])('%s: %s', async (path, way) => {
    // How long the function takes to load is not looked at.
    await expect.poll(async () => (await api.post(path, 'lines')).status, patience).toBe(200);
    const answer = await raw(path, way);
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(answer).toContain('half of it');
    // The end of a chunked body, without which no client takes it for whole.
    expect(answer).not.toContain('0\r\n\r\n');
  });

  it('only when a slow client has what came before', async () => {
    // By then the function waits for the client.
    const answer = await raw('/stream', 'last words', 300);
    expect(answer.slice(-200)).toMatch(/x\r\n.*\r\nlast words\r\n$/s);
  });

  it('makes fetch fail', async () => {
    const response = await api.post('/stream', 'throw after');
    await expect(response.text()).rejects.toThrow();
  });
});

describe('a client', () => {
  it('makes the function wait if it does not read', async () => {
    const note = newNote();
    const response = await begin('flood', note);
    await new Promise((resolve) => setTimeout(resolve, 500));
    response.destroy();
    await expect.poll(() => readNote(note), patience).not.toBe('');
    // Of 64 MiB, what sockets and buffers hold.
    expect(Number(readNote(note))).toBeLessThan(32);
  });

  it('gets the complete answer if it reads', async () => {
    const response = await api.post('/stream', 'flood', { headers: { 'x-note': newNote() } });
    expect((await response.arrayBuffer()).byteLength).toBe(64 * 1024 * 1024);
  });

  it.each(['drip', 'silence', 'flood'])('stops the function by disconnecting: %s', async (way) => {
    const note = newNote();
    const response = await begin(way, note);
    await once(response, 'readable');
    response.destroy();
    await expect.poll(() => readNote(note), patience).not.toBe('');
  });

  it('leaves the function usable by disconnecting', async () => {
    for (let i = 0; i < 10; i += 1) (await begin('silence', newNote())).destroy();
    expect(await (await api.post('/stream', 'lines')).text()).toBe('one\ntwo\nthree\n');
  });
});
