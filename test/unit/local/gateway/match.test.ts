import { describe, expect, it } from 'vitest';
import { matcher } from '../../../../local/gateway/match.ts';
import type { RouteSpec } from '../../../../local/template/routes.ts';

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
