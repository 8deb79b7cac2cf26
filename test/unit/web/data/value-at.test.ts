import { expect, it } from 'vitest';
import { valueAt } from '../../../../web/data/value-at.ts';

it.each([
  ['a.b.0', 1],
  ['a.b', [1]],
  ['usage.gpt-4.1.tokens', 5],
  ['usage.gpt-4.2.tokens', undefined],
  ['constructor.name', undefined],
])('%s leads to %j', (path, expected) => {
  expect(valueAt({ a: { b: [1] }, usage: { 'gpt-4.1': { tokens: 5 } } }, path)).toEqual(expected);
});
