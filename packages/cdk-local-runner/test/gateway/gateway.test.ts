import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenBucket } from '../../src/gateway/gateway.ts';
import { type FixtureGateway, startFixture } from '../fixtures/gateway.ts';

const notes = mkdtempSync(join(tmpdir(), 'notes-'));

let api: FixtureGateway;
beforeAll(async () => {
  api = await startFixture({
    routes: [
      { path: '/plain', handler: 'plain' },
      { path: '/open', handler: 'plain', open: true },
      { path: '/short', handler: 'plain', timeoutSeconds: 1 },
      { path: '/impatient', handler: 'plain', integrationMs: 200 },
      { path: '/broken', handler: 'broken' },
      { path: '/any/{path+}', handler: 'plain' },
    ],
  });
});
afterAll(async () => {
  await api.stop();
  rmSync(notes, { recursive: true });
});

const statusAndType = (response: Response) => [response.status, response.headers.get('x-type')];

describe('a request', () => {
  it('reaches the function as API Gateway’s event', async () => {
    const response = await api.post('/any/a/b%20c?x=1&x=2&y=', undefined, {
      headers: { 'X-Custom': 'kept', 'user-agent': 'test' },
    });
    const { event, context } = (await response.json()) as Record<
      'event' | 'context',
      Record<string, unknown>
    >;
    expect(event).toMatchObject({
      resource: '/any/{path+}',
      path: '/any/a/b%20c',
      httpMethod: 'POST',
      headers: { 'X-Custom': 'kept', 'X-Forwarded-For': '127.0.0.1' },
      multiValueHeaders: { 'X-Custom': ['kept'] },
      queryStringParameters: { x: '2', y: '' },
      multiValueQueryStringParameters: { x: ['1', '2'], y: [''] },
      pathParameters: { path: 'a/b c' },
      stageVariables: null,
      body: null,
      isBase64Encoded: false,
      requestContext: {
        stage: 'live',
        path: '/any/a/b%20c',
        resourcePath: '/any/{path+}',
        identity: { sourceIp: '127.0.0.1', userAgent: 'test' },
        authorizer: { principalId: 'ada', said: 'ada' },
        requestId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
      },
    });
    expect(context).toMatchObject({ functionVersion: '$LATEST', memoryLimitInMB: '128' });
  });

  it('has the id that its answer names', async () => {
    const response = await api.post('/plain', 'echo');
    const { event } = (await response.json()) as { event: { requestContext: { requestId: string } } };
    expect(response.headers.get('x-amzn-requestid')).toBe(event.requestContext.requestId);
  });

  it('reaches a function with the environment of the template and of Lambda', async () => {
    expect(await (await api.post('/plain', 'environment')).json()).toMatchObject({
      WHO: 'plain',
      TABLE: 'Fixture-Table',
      AWS_REGION: 'us-east-1',
      AWS_LAMBDA_FUNCTION_NAME: 'Fixture-Function0',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
    });
  });

  it('leaves a function as much time as it has', async () => {
    const left = Number(await (await api.post('/plain', 'remaining')).text());
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(10_000);
  });

  it('needs no key on an open route', async () => {
    const response = await fetch(`${api.url}/open`, { method: 'POST', body: 'count' });
    expect(response.status).toBe(200);
  });

  it('gets the function’s answer, headers and all', async () => {
    const response = await api.post('/plain', 'headers');
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain',
      'x-amzn-remapped-www-authenticate': 'Basic',
      'x-number': '7',
      'x-both': 'multiple',
    });
    expect(await response.text()).toBe('made');
  });

  it('is served concurrently with others of the same function', async () => {
    const one = join(notes, 'one');
    const other = join(notes, 'other');
    const answers = await Promise.all([
      api.post('/plain', 'meet', { headers: { 'x-note': one, 'x-other-note': other } }),
      api.post('/plain', 'meet', { headers: { 'x-note': other, 'x-other-note': one } }),
    ]);
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(['met', 'met']);
  });
});

describe('the gateway answers by itself', () => {
  it.each([
    ['POST', '/nowhere'],
    ['GET', '/plain'],
    ['POST', '/plain//'],
  ])('%s %s: there is no such route', async (method, path) => {
    const response = await fetch(api.url + path, { method, headers: { authorization: 'ada' } });
    expect(statusAndType(response)).toEqual([404, 'MISSING_AUTHENTICATION_TOKEN']);
    expect(response.headers.get('x-request-id')).toBe(response.headers.get('x-amzn-requestid'));
  });

  it.each([
    ['nobody', 401, 'UNAUTHORIZED'],
    ['denied', 403, 'ACCESS_DENIED'],
    ['fault', 500, 'AUTHORIZER_FAILURE'],
    ['nonsense', 500, 'AUTHORIZER_CONFIGURATION_ERROR'],
  ])('%s makes the authorizer answer with %d', async (authorization, status, type) => {
    const response = await api.post('/plain', 'count', { headers: { authorization } });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ type });
  });

  it('a caller without the header gets 401', async () => {
    const response = await fetch(`${api.url}/plain`, { method: 'POST' });
    expect(await response.json()).toEqual({ type: 'UNAUTHORIZED' });
  });

  it.each(['throw', 'malformed', 'bad header', 'nothing', 'huge', 'exit', 'uncaught later', 'out of memory'])(
    'a function with this failure is answered with 502: %s',
    async (way) => {
      const response = await api.post('/plain', way);
      expect(response.status).toBe(502);
      expect(await response.json()).toEqual({ type: 'BAD_GATEWAY' });
      expect((await api.post('/plain', 'count')).status).toBe(200);
    },
  );

  it('a function that does not load is answered with 502 every time', async () => {
    expect((await api.post('/broken')).status).toBe(502);
    expect((await api.post('/broken')).status).toBe(502);
    expect(api.log.join()).toContain('it does not even load');
  });

  it.each(['hang', 'spin'])('a function that times out is answered with 502: %s', async (way) => {
    const response = await api.post('/short', way);
    expect(response.status).toBe(502);
    expect(api.log.join()).toContain('Task timed out after 1.00 seconds');
    expect((await api.post('/short', 'count')).status).toBe(200);
  });

  it('a function slower than the gateway’s limit is answered with 504', async () => {
    const response = await api.post('/impatient', 'slow');
    expect(response.status).toBe(504);
    expect(await response.json()).toEqual({ type: 'INTEGRATION_TIMEOUT' });
  });

  it('a failure is described in the log and not in the answer', async () => {
    const response = await api.post('/plain', 'throw');
    expect(await response.text()).not.toContain('secret');
    expect(api.log.join('\n')).toContain(response.headers.get('x-request-id'));
    expect(api.log.join('\n')).toContain('a secret of the handler');
  });

  it('an answer as long as Lambda allows is sent', async () => {
    const response = await api.post('/plain', 'as big as may be');
    expect((await response.text()).length).toBe(6_291_556 - 200);
  });
});

it('Lines that functions write to stdout and stderr go to the log with the function’s name', async () => {
  await api.post('/plain', 'log');
  await expect
    .poll(() => api.log)
    .toEqual(
      expect.arrayContaining(['Fixture-Function0: said on stdout', 'Fixture-Function0: said on stderr']),
    );
});

it('The stage throttles', async () => {
  const throttled = await startFixture({
    routes: [{ path: '/open', handler: 'plain', open: true }],
    throttle: { rate: 0.001, burst: 2 },
  });
  const statuses = [];
  for (let i = 0; i < 3; i += 1) statuses.push((await throttled.post('/open', 'count')).status);
  expect(statuses).toEqual([200, 200, 429]);
  await throttled.stop();
});

it('A method with a throttle of its own takes nothing from that of the stage', async () => {
  const throttled = await startFixture({
    routes: [
      { path: '/open', handler: 'plain', open: true },
      { path: '/other', handler: 'plain', open: true },
    ],
    throttle: { rate: 0.001, burst: 1 },
    methodThrottle: { path: '/~1open', rate: 0.001, burst: 2 },
  });
  const statuses = [];
  for (const path of ['/open', '/open', '/open', '/other', '/other'])
    statuses.push((await throttled.post(path, 'count')).status);
  expect(statuses).toEqual([200, 200, 429, 200, 429]);
  await throttled.stop();
});

it('A busy function is an integration that fails', async () => {
  const small = await startFixture(
    { routes: [{ path: '/open', handler: 'plain', open: true }] },
    { concurrency: { maxWorkers: 1, maxWaiting: 1 } },
  );
  const statuses = await Promise.all(
    [1, 2, 3, 4].map(async () => (await small.post('/open', 'slow')).status),
  );
  expect(statuses.filter((status) => status === 504).length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
  await small.stop();
});

it('A killed function answers again with a new process', async () => {
  const note = join(notes, 'killed');
  const during = api.post('/open', 'meet', { headers: { 'x-note': note, 'x-other-note': 'nobody' } });
  await expect.poll(() => existsSync(note)).toBe(true);
  await api.killWorkers();
  expect((await during).status).toBe(502);
  expect(await (await api.post('/open', 'count')).text()).toBe('1');
});

const streamNotes = mkdtempSync(join(tmpdir(), 'notes-'));

let streamApi: FixtureGateway;
beforeAll(async () => {
  streamApi = await startFixture({
    routes: [
      { path: '/stream', handler: 'streaming', streaming: true },
      { path: '/short', handler: 'streaming', streaming: true, timeoutSeconds: 1 },
      { path: '/impatient', handler: 'streaming', streaming: true, integrationMs: 300 },
      { path: '/buffered', handler: 'plain', streaming: true },
    ],
  });
});
afterAll(async () => {
  await streamApi.stop();
  rmSync(streamNotes, { recursive: true });
});

let noted = 0;
/** A file for a function to say what became of its stream. */
const newNote = (): string => {
  noted += 1;
  return join(streamNotes, String(noted));
};

const readNote = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Sends a request and gives its answer as soon as the head is there, unread. */
const begin = async (body: string, note: string): Promise<IncomingMessage> => {
  const headers = { authorization: 'ada', 'x-note': note };
  const req = httpRequest(`${streamApi.url}/stream`, { method: 'POST', headers, agent: false });
  req.on('error', () => {});
  req.end(body);
  const [response] = await once(req, 'response');
  return response;
};

describe('a streamed answer', () => {
  it('comes with its head and its body', async () => {
    const response = await streamApi.post('/stream', 'lines');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain');
    expect(response.headers.get('x-amzn-requestid')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await response.text()).toBe('one\ntwo\nthree\n');
  });

  it('may have any status, headers and cookies, and an empty start', async () => {
    const response = await streamApi.post('/stream', 'metadata');
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
      expect(await (await streamApi.post('/stream', 'lines')).text()).toBe('one\ntwo\nthree\n');
  });
});

describe('a function that fails before its answer starts', () => {
  it.each(['throw before', 'no metadata'])('is answered with 502: %s', async (way) => {
    const response = await streamApi.post('/stream', way);
    expect(response.status).toBe(502);
    expect(await response.json()).toEqual({ type: 'BAD_GATEWAY' });
  });

  it('is answered with 502 if it does not stream', async () => {
    expect((await streamApi.post('/buffered', 'count')).status).toBe(502);
  });
});

describe('an answer that fails half way breaks off', () => {
  /**
   * The raw bytes of the answer to a request, up to the end of the connection. They are read after
   * so many milliseconds.
   */
  const raw = async (path: string, body: string, afterMs = 0): Promise<string> => {
    const socket = connect(Number(new URL(streamApi.url).port), '127.0.0.1');
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: ada\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
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
    await expect.poll(async () => (await streamApi.post(path, 'lines')).status).toBe(200);
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
    const response = await streamApi.post('/stream', 'throw after');
    await expect(response.text()).rejects.toThrow();
  });
});

describe('a client', () => {
  it('makes the function wait if it does not read', async () => {
    const note = newNote();
    const response = await begin('flood', note);
    await new Promise((resolve) => setTimeout(resolve, 500));
    response.destroy();
    await expect.poll(() => readNote(note)).not.toBe('');
    // Of 64 MiB, what sockets and buffers hold.
    expect(Number(readNote(note))).toBeLessThan(32);
  });

  it('gets the complete answer if it reads', async () => {
    const response = await streamApi.post('/stream', 'flood', { headers: { 'x-note': newNote() } });
    expect((await response.arrayBuffer()).byteLength).toBe(64 * 1024 * 1024);
  });

  it.each(['drip', 'silence', 'flood'])('stops the function by disconnecting: %s', async (way) => {
    const note = newNote();
    const response = await begin(way, note);
    await once(response, 'readable');
    response.destroy();
    await expect.poll(() => readNote(note)).not.toBe('');
  });

  it('leaves the function usable by disconnecting', async () => {
    for (let i = 0; i < 10; i += 1) (await begin('silence', newNote())).destroy();
    expect(await (await streamApi.post('/stream', 'lines')).text()).toBe('one\ntwo\nthree\n');
  });
});

it('A bucket gives its burst at once, then tokens at its rate, and never holds more than its burst', () => {
  let ms = 0;
  const take = tokenBucket({ ratePerSecond: 2, burst: 3 }, () => ms);
  const takeAll = (): number => {
    let taken = 0;
    while (take()) taken += 1;
    return taken;
  };
  expect(takeAll()).toBe(3);
  ms += 400;
  expect(takeAll()).toBe(0);
  ms += 100;
  expect(takeAll()).toBe(1);
  ms += 60_000;
  expect(takeAll()).toBe(3);
});
