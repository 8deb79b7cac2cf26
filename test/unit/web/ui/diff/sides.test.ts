import { describe, expect, it } from 'vitest';
import { diffOf } from '../../../../../web/ui/diff/lines.ts';
import { sidesOf } from '../../../../../web/ui/diff/sides.ts';

const rows = (one: string, other: string) =>
  sidesOf(diffOf(one, other) ?? []).map(({ left, right }) =>
    [left, right].map((line) => line?.pieces.map(({ text }) => text).join('')),
  );

describe('two sides', () => {
  it('have equal lines and lines in the place of others beside each other', () => {
    expect(rows('a\nold\nc', 'a\nnew\nc')).toEqual([
      ['a', 'a'],
      ['old', 'new'],
      ['c', 'c'],
    ]);
  });

  it('leave a gap where one has more lines', () => {
    expect(rows('a\nb', 'a\nx\ny\nz\nb')).toEqual([
      ['a', 'a'],
      [undefined, 'x'],
      [undefined, 'y'],
      [undefined, 'z'],
      ['b', 'b'],
    ]);
    expect(rows('a\none\ntwo\nb', 'a\nthree\nb')[2]).toEqual(['two', undefined]);
  });
});
