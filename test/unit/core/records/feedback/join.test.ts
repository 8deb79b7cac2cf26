import { expect, it } from 'vitest';
import { setNewest } from '../../../../../core/records/feedback/join.ts';

it('A map keeps as many values as it may, those that were set last', () => {
  const map = new Map<string, number>();
  for (const [at, key] of ['a', 'b', 'a', 'c'].entries()) setNewest(map, key, at, 2);
  expect([...map]).toEqual([
    ['a', 2],
    ['c', 3],
  ]);
});
