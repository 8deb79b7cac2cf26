import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { matcher } from '../../src/gateway/request.ts';
import type { RouteSpec } from '../../src/template/stack.ts';
import { type FixtureGateway, startFixture } from '../fixtures/gateway.ts';

let api: FixtureGateway;
beforeAll(async () => {
  api = await startFixture({ routes: [{ path: '/plain', handler: 'plain' }] });
});
afterAll(() => api.stop());

const statusAndType = (response: Response) => [response.status, response.headers.get('x-type')];

describe('a body', () => {
  it('is too long if its event exceeds 6 MB, though it is shorter itself', async () => {
    // Each quote is two characters of the event.
    const response = await api.post('/plain', '"'.repeat(3_200_000));
    expect(statusAndType(response)).toEqual([413, 'DEFAULT_4XX']);
  });

  it('is refused beyond 10 MB, and its sender sees the answer', async () => {
    const response = await api.post('/plain', 'x'.repeat(30_000_000));
    expect(statusAndType(response)).toEqual([413, 'DEFAULT_4XX']);
  });

  it('is refused beyond 10 MB even if it does not state its length', async () => {
    const req = httpRequest(`${api.url}/plain`, { method: 'POST', headers: { authorization: 'ada' } });
    req.on('error', () => {});
    const answered = once(req, 'response');
    const piece = Buffer.alloc(1_000_000, 'x');
    for (let sent = 0; sent < 12; sent += 1) req.write(piece);
    const [response] = await answered;
    expect(response.statusCode).toBe(413);
    req.destroy();
  });

  it('is not requested from a waiting client if it is too long', async () => {
    const headers = { authorization: 'ada', expect: '100-continue', 'content-length': 20_000_000 };
    const req = httpRequest(`${api.url}/plain`, { method: 'POST', headers });
    req.on('continue', () => expect.unreachable());
    req.flushHeaders();
    const [response] = await once(req, 'response');
    expect(response.statusCode).toBe(413);
    req.destroy();
  });

  it('is requested from a waiting client if it is not too long', async () => {
    const headers = { authorization: 'ada', expect: '100-continue', 'content-length': 5 };
    const req = httpRequest(`${api.url}/plain`, { method: 'POST', headers });
    req.flushHeaders();
    await once(req, 'continue');
    req.end('count');
    const [response] = await once(req, 'response');
    expect(response.statusCode).toBe(200);
    expect(await text(response)).toMatch(/^\d+$/);
  });

  it('delays no other request if it never ends', async () => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.write(
      'POST /plain HTTP/1.1\r\nhost: localhost\r\nauthorization: ada\r\ncontent-length: 100\r\n\r\nhalf',
    );
    expect((await api.post('/plain', 'count')).status).toBe(200);
    socket.destroy();
  });
});

const route = (path: string, method = 'POST'): RouteSpec => ({
  method,
  path,
  function: { name: '', arn: '', folder: '', handler: '', environment: {}, timeoutSeconds: 1, memoryMb: 128 },
  streaming: false,
  timeoutMs: 1000,
});

const match = matcher([
  route('/files/{path+}'),
  route('/files/{name}'),
  route('/files/index'),
  route('/call/{id}/notes'),
  route('/anything', 'ANY'),
  route('/'),
]);

describe('a path', () => {
  it.each([
    ['/files/index', '/files/index', {}],
    ['/files/readme', '/files/{name}', { name: 'readme' }],
    ['/files/a/b/c', '/files/{path+}', { path: 'a/b/c' }],
    ['/call/7/notes', '/call/{id}/notes', { id: '7' }],
    ['/files/a%2Fb', '/files/{name}', { name: 'a/b' }],
    ['/files/100%', '/files/{name}', { name: '100%' }],
    ['/', '/', {}],
    // API Gateway takes no notice of a slash at the end.
    ['/call/7/notes/', '/call/{id}/notes', { id: '7' }],
  ])('%s goes to %s', (path, resource, pathParameters) => {
    expect(match('POST', path)).toMatchObject({ route: { path: resource }, pathParameters });
  });

  it.each(['/call', '/call/7', '/call/7/notes/8', '/files', '/FILES/index', '//'])(
    '%s goes nowhere',
    (path) => {
      expect(match('POST', path)).toBeUndefined();
    },
  );

  it('goes nowhere with another method', () => {
    expect(match('GET', '/files/index')).toBeUndefined();
  });

  it('goes to a route for any method with every method', () => {
    expect(match('DELETE', '/anything')).toBeDefined();
  });
});
