import { describe, expect, it } from 'vitest';
import { valueText } from '../../../../../web/ui/diff/value-text.ts';

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
