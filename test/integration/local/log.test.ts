import { expect, it } from 'vitest';
import { isRequestLog, sourceNames } from '../../../local/log.ts';
import { readStack } from '../../../local/template/stack.ts';
import { assembly } from '../../support/assembly.ts';

it.each<[boolean, string]>([
  [true, '{"level":"info","status":200}'],
  [true, '{"level":"info","message":"authorizer","outcome":"allowed"}'],
  [true, '{"level":"info","message":"authorizer","outcome":"refused"}'],
  [false, '{"level":"error","message":"authorizer","outcome":"failed"}'],
  [false, '{"level":"error","status":500}'],
  [false, 'Error: something'],
  [false, '    at somewhere'],
])('It is %s that this tells of a request that went well: %s', (expected, line) => {
  expect(isRequestLog(line)).toBe(expected);
});

it('Lines of functions are named by their route, or as the authorizer’s', () => {
  const { api, functions } = readStack(assembly());
  const nameOf = sourceNames({ api });
  // A function may serve several routes.
  const expected = (name: string): string[] => {
    const routes = api.routes.filter((route) => route.function.name === name);
    return routes.length > 0 ? routes.map(({ path }) => path) : ['authorizer'];
  };
  for (const { name } of functions) expect(expected(name)).toContain(nameOf(name));
  expect(nameOf('Another')).toBe('Another');
});
