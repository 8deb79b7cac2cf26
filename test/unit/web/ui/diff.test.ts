import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DiffLine, diffTexts, foldBlocks, toSides, valueText } from '../../../../web/ui/diff.ts';

const written = (lines: readonly DiffLine[], without: DiffLine['kind']): string =>
  lines
    .filter(({ kind }) => kind !== without)
    .map(({ pieces }) => pieces.map(({ text }) => text).join(''))
    .join('\n');

describe('the differences of two texts', () => {
  it('are whole lines, with the words marked that differ', () => {
    expect(diffTexts('a\nBe brief.\nc', 'a\nBe very brief.\nc')).toEqual([
      { kind: 'same', pieces: [{ text: 'a', changed: false }] },
      { kind: 'removed', pieces: expect.anything() },
      {
        kind: 'added',
        pieces: [
          { text: 'Be ', changed: false },
          { text: 'very ', changed: true },
          { text: 'brief.', changed: false },
        ],
      },
      { kind: 'same', pieces: [{ text: 'c', changed: false }] },
    ]);
  });

  it('have no line of a text that is not there', () => {
    const added = ['a: 1', 'b: 2'].map((text) => ({ kind: 'added', pieces: [{ text, changed: false }] }));
    expect(diffTexts('', 'a: 1\nb: 2')).toEqual(added);
    expect(diffTexts('a: 1\nb: 2', '')).toEqual(added.map((line) => ({ ...line, kind: 'removed' })));
  });

  it('give back both texts, whatever they are', () => {
    const line = fc.stringMatching(/^[ab .]{0,6}$/);
    const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (one, other) => {
        const lines = diffTexts(one, other) ?? [];
        expect(written(lines, 'added')).toBe(one);
        expect(written(lines, 'removed')).toBe(other);
      }),
    );
  });

  it('fold away what is equal and far from any', () => {
    const equal = Array.from({ length: 20 }, (_, at) => `line ${at}`).join('\n');
    const blocks = foldBlocks(diffTexts(`${equal}\nend`, `${equal}\nEND`) ?? []);
    expect(blocks.map(({ folded, lines }) => [folded, lines.length])).toEqual([
      [true, 17],
      [false, 5],
    ]);
  });
});

const rows = (one: string, other: string) =>
  toSides(diffTexts(one, other) ?? []).map(({ left, right }) =>
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

describe('a value as lines', () => {
  it('has a key a line in order of the alphabet, and texts with lines of their own', () => {
    expect(valueText({ system: 'One\nTwo', model: 'm', tools: [], list: [1, { a: null }] })).toBe(
      'list:\n  0: 1\n  1:\n    a: null\nmodel: m\nsystem:\n  One\n  Two\ntools: []',
    );
  });

  it.each([
    ['text', 'text'],
    [3, '3'],
    [null, 'null'],
    [{}, '{}'],
    ['a\nb', 'a\nb'],
    ['4711', '"4711"'],
    ['', '""'],
    ['4711 orders', '4711 orders'],
    ['2026-10-01', '2026-10-01'],
    ['{"city":"Ulm"}', '{"city":"Ulm"}'],
  ])('of %j is %j', (value, text) => {
    expect(valueText(value)).toBe(text);
  });

  it.each([[4711], [-1.5], [1e21], [true], [false], [null], [undefined], [[]], [{}], ['4711'], ['']])(
    'tells %j from the text that reads like it',
    (value) => {
      const text = valueText(value);
      expect(valueText(text)).not.toBe(text);
      expect(valueText({ order: text })).not.toBe(valueText({ order: value }));
    },
  );

  it('is cut where it is too deep or too long', () => {
    let deep: object = {};
    for (let level = 0; level < 5000; level++) deep = { in: deep };
    expect(valueText(deep).split('\n').length).toBeLessThan(100);
    expect(valueText(Array.from({ length: 100 }, () => 'x'.repeat(10_000))).length).toBeLessThan(500_000);
  });
});
