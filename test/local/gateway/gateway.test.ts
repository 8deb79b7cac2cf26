import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixtureGateway, startFixture } from '../fixtures/gateway.ts';

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
afterAll(() => api.stop());

const typeOf = (response: Response) => [response.status, response.headers.get('x-type')];

describe('a request', () => {
  it('comes to the function as API Gateway’s event', async () => {
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
        path: '/live/any/a/b%20c',
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

  it('on an open route needs no key', async () => {
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

  it('waits for no other one: two take hardly longer than one', async () => {
    const answers = await Promise.all([api.post('/plain', 'slow'), api.post('/plain', 'slow')]);
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(['slow', 'slow']);
  });
});

describe('the gateway answers by itself', () => {
  it.each([
    ['POST', '/nowhere'],
    ['GET', '/plain'],
    ['POST', '/plain/'],
  ])('%s %s: there is no such route', async (method, path) => {
    const response = await fetch(api.url + path, { method, headers: { authorization: 'ada' } });
    expect(typeOf(response)).toEqual([404, 'MISSING_AUTHENTICATION_TOKEN']);
    expect(response.headers.get('x-request-id')).toBe(response.headers.get('x-amzn-requestid'));
  });

  it.each([
    ['nobody', 401, 'UNAUTHORIZED'],
    ['denied', 403, 'ACCESS_DENIED'],
    ['fault', 500, 'AUTHORIZER_FAILURE'],
    ['nonsense', 500, 'AUTHORIZER_CONFIGURATION_ERROR'],
  ])('a caller that the authorizer takes for %s gets %d', async (authorization, status, type) => {
    const response = await api.post('/plain', 'count', { headers: { authorization } });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ type });
  });

  it('a caller without the header gets 401', async () => {
    const response = await fetch(`${api.url}/plain`, { method: 'POST' });
    expect(await response.json()).toEqual({ type: 'UNAUTHORIZED' });
  });

  it.each(['throw', 'malformed', 'bad header', 'nothing', 'huge', 'exit', 'uncaught later', 'out of memory'])(
    'a function that does this is answered for with 502: %s',
    async (way) => {
      const response = await api.post('/plain', way);
      expect(response.status).toBe(502);
      expect(await response.json()).toEqual({ type: 'INTEGRATION_FAILURE' });
      expect((await api.post('/plain', 'count')).status).toBe(200);
    },
  );

  it('a function that does not load is answered for with 502, again and again', async () => {
    expect((await api.post('/broken')).status).toBe(502);
    expect((await api.post('/broken')).status).toBe(502);
    expect(api.log.join()).toContain('it does not even load');
  });

  it.each(['hang', 'spin'])('a function whose time is up is answered for with 502: %s', async (way) => {
    const response = await api.post('/short', way);
    expect(response.status).toBe(502);
    expect(api.log.join()).toContain('Task timed out after 1.00 seconds');
    expect((await api.post('/short', 'count')).status).toBe(200);
  });

  it('a function that takes longer than the gateway waits is answered for with 504', async () => {
    const response = await api.post('/impatient', 'slow');
    expect(response.status).toBe(504);
    expect(await response.json()).toEqual({ type: 'INTEGRATION_TIMEOUT' });
  });

  it('what went wrong is in the log and not in the answer', async () => {
    const response = await api.post('/plain', 'throw');
    expect(await response.text()).not.toContain('secret');
    expect(api.log.join('\n')).toContain(response.headers.get('x-request-id'));
    expect(api.log.join('\n')).toContain('a secret of the handler');
  });

  it('an answer as big as Lambda lets it be goes out', async () => {
    const response = await api.post('/plain', 'as big as may be');
    expect((await response.text()).length).toBe(6_291_556 - 200);
  });
});

describe('a body', () => {
  it('whose event is over 6 MB is too long, though it is shorter itself', async () => {
    // Each quote is two characters of the event.
    const response = await api.post('/plain', '"'.repeat(3_200_000));
    expect(typeOf(response)).toEqual([413, 'DEFAULT_4XX']);
  });

  it('over 10 MB is too long, and its sender sees that', async () => {
    const response = await api.post('/plain', 'x'.repeat(30_000_000));
    expect(typeOf(response)).toEqual([413, 'DEFAULT_4XX']);
  });

  it('over 10 MB that does not say how long it is, is too long', async () => {
    const req = httpRequest(`${api.url}/plain`, { method: 'POST', headers: { authorization: 'ada' } });
    req.on('error', () => {});
    const answered = once(req, 'response');
    const piece = Buffer.alloc(1_000_000, 'x');
    for (let sent = 0; sent < 12; sent += 1) req.write(piece);
    const [response] = await answered;
    expect(response.statusCode).toBe(413);
    req.destroy();
  });

  it('that waits to be asked for is not asked for when it is too long', async () => {
    const headers = { authorization: 'ada', expect: '100-continue', 'content-length': 20_000_000 };
    const req = httpRequest(`${api.url}/plain`, { method: 'POST', headers });
    req.on('continue', () => expect.unreachable());
    req.flushHeaders();
    const [response] = await once(req, 'response');
    expect(response.statusCode).toBe(413);
    req.destroy();
  });

  it('that waits to be asked for is asked for when it is not', async () => {
    const headers = { authorization: 'ada', expect: '100-continue', 'content-length': 5 };
    const req = httpRequest(`${api.url}/plain`, { method: 'POST', headers });
    req.flushHeaders();
    await once(req, 'continue');
    req.end('count');
    const [response] = await once(req, 'response');
    expect(response.statusCode).toBe(200);
    expect(await text(response)).toMatch(/^\d+$/);
  });

  it('that never ends holds nobody else up', async () => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.write('POST /plain HTTP/1.1\r\nhost: x\r\nauthorization: ada\r\ncontent-length: 100\r\n\r\nhalf');
    expect((await api.post('/plain', 'count')).status).toBe(200);
    socket.destroy();
  });
});

it('What functions write on stdout and stderr goes to the log, with the function’s name', async () => {
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

it('A function that is busy throttles', async () => {
  const small = await startFixture(
    { routes: [{ path: '/open', handler: 'plain', open: true }] },
    { maxWorkers: 1, maxWaiting: 1 },
  );
  const statuses = await Promise.all(
    [1, 2, 3, 4].map(async () => (await small.post('/open', 'slow')).status),
  );
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
  await small.stop();
});

it('A killed function answers again with a new process', async () => {
  await api.post('/open', 'count');
  const during = api.post('/open', 'slow');
  await new Promise((resolve) => setTimeout(resolve, 100));
  await api.killWorkers();
  expect((await during).status).toBe(502);
  expect(await (await api.post('/open', 'count')).text()).toBe('1');
});
