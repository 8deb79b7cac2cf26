import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutter } from '../../../../../core/doors/mcp/cut.ts';
import { fitted, type Json, measureResult } from '../../../../../core/doors/mcp/reply.ts';

const json = fc.jsonValue() as fc.Arbitrary<Json>;

describe('cutting a value', () => {
  it('leaves what has room as it is', () => {
    fc.assert(
      fc.property(json, (value) => {
        const { value: cut, gaps } = cutter()(value, 1e6, 'output');
        expect([cut, gaps]).toEqual([value, []]);
      }),
    );
  });

  it('keeps short values, and cuts long texts at the end and long lists in the middle', () => {
    const value = {
      model: 'm',
      text: 'x'.repeat(1000),
      list: Array.from({ length: 100 }, (_, i) => i * 1e9),
    };
    const { value: cut, gaps } = cutter()(value, 500, '');
    expect(cut).toEqual({
      model: 'm',
      text: expect.stringMatching(/^x+…$/),
      list: expect.arrayContaining([0, 99e9, expect.stringMatching(/^… \d+ items left out …$/)]),
    });
    expect(gaps.map(({ path, of, unit }) => [path, of, unit])).toEqual([
      ['text', 1000, 'characters'],
      ['list', 100, 'items'],
    ]);
  });

  it('says where the rest of a text begins', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 50, maxLength: 400 }), (text) => {
        const { value, gaps } = cutter()({ text }, 60, '');
        const [gap] = gaps;
        const shown = (value as { text: string }).text;
        if (!gap) expect(shown).toBe(text);
        else expect(`${shown.slice(0, -1)}${text.slice(gap.from)}`).toBe(text);
      }),
    );
  });
});

describe('fitting a reply', () => {
  it('gives the largest that keeps to the budget', () => {
    const rows = Array.from({ length: 500 }, (_, i) => ({ id: i, text: 'x'.repeat(i % 50) }));
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 100_000 }), (most) => {
        const reply = fitted(most, rows.length, (count) => ({ rows: rows.slice(0, count) }));
        expect(measureResult(reply)).toBeLessThanOrEqual(most);
        const next = { rows: rows.slice(0, reply.rows.length + 1) };
        if (reply.rows.length < rows.length) expect(measureResult(next)).toBeGreaterThan(most);
      }),
    );
  });
});
