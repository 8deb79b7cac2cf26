import { describe, expect, it } from 'vitest';
import { toPath } from '../../../../foundations/expression/index.ts';
import {
  distinctUpTo,
  evenShare,
  isEmptySpan,
  isOrderOfSource,
  readsAhead,
} from '../../../../foundations/listing/index.ts';

const sort = (...keys: string[]) =>
  keys.map((key) => {
    const [path = '', direction] = key.split(' ');
    return { path: toPath(path), descending: direction === 'desc' };
  });

describe('the order of a source', () => {
  it.each([
    [[], true],
    [['at asc'], true],
    [['at desc'], true],
    [['at desc', 'id asc', 'anything desc'], true],
    [['at asc', 'id desc'], false],
    [['at asc', 'other asc'], false],
    [['id asc'], false],
    [['at.below asc'], false],
  ])('by %j is that of the time: %s', (keys, isFree) => {
    expect(isOrderOfSource(sort(...keys), 'at')).toBe(isFree);
  });
});

describe('the order of a source with ids', () => {
  it.each([
    [['at desc', 'id desc'], true],
    [['at desc', 'id asc'], true],
    [['at asc', 'id desc'], false],
    [['id desc'], false],
  ])('by %j is that of the time and ids: %s', (keys, isFree) => {
    expect(isOrderOfSource(sort(...keys), 'at', true)).toBe(isFree);
  });
});

describe('bounds', () => {
  it.each([
    [{}, false],
    [{ from: 2 }, false],
    [{ to: 2 }, false],
    [{ from: 2, to: 2 }, false],
    [{ from: 3, to: 2 }, true],
  ])('%j leave no time: %s', (bounds, isEmpty) => {
    expect(isEmptySpan(bounds)).toBe(isEmpty);
  });
});

describe('values to look up', () => {
  it('are each once, as long as they are few', () => {
    expect(distinctUpTo(['b', 'a', 'b'], 2)).toEqual(['b', 'a']);
    expect(distinctUpTo(['b', 'a', 'c'], 2)).toBeUndefined();
    expect(distinctUpTo(undefined, 2)).toBeUndefined();
  });
});

describe('the first page', () => {
  it('is an even share of what is enough, and some to spare', () => {
    expect([evenShare(100, 4), evenShare(101, 4), evenShare(0, 1)]).toEqual([33, 34, 8]);
  });

  it.each([
    ['free', null, 16, true],
    ['free', 5, 1, false],
    ['sort', 5, 32, true],
    ['sort', null, 33, false],
  ] as const)(
    'in the order %s with limit %s of %s ranges is read ahead: %s',
    (order, limit, ranges, ahead) => {
      expect(readsAhead({ order, limit }, ranges)).toBe(ahead);
    },
  );
});
