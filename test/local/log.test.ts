import { expect, it } from 'vitest';
import { isRequestLog } from '../../local/log.ts';

it.each<[boolean, string]>([
  [true, '{"level":"info","status":200}'],
  [true, '{"message":"authorizer","outcome":"allowed"}'],
  [true, '{"message":"authorizer","outcome":"refused"}'],
  [false, '{"message":"authorizer","outcome":"failed"}'],
  [false, '{"level":"error","status":500}'],
  [false, 'Error: something'],
  [false, '    at somewhere'],
])('It is %s that this tells of a request that went well: %s', (expected, line) => {
  expect(isRequestLog(line)).toBe(expected);
});
