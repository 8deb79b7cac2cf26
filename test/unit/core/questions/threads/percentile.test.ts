import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentile } from '../../../../../core/questions/threads/percentile.ts';

const ascending = (values: readonly number[]) => Float64Array.from(values).sort();

describe('a percentile', () => {
  it.each<[where: string, values: number[], percent: number, result: number]>([
    // https://numpy.org/doc/stable/reference/generated/numpy.percentile.html
    ['numpy', [10, 7, 4, 3, 2, 1], 50, 3.5],
    ['numpy, first column', [10, 3], 50, 6.5],
    ['numpy, second column', [7, 2], 50, 4.5],
    ['numpy, first row', [10, 7, 4], 50, 7],
    // https://support.microsoft.com/office/percentile-inc-function-680f9539-45eb-410b-9a5e-c1355e5fe2ed
    ['PERCENTILE.INC', [1, 3, 2, 4], 30, 1.9],
    // https://en.wikipedia.org/wiki/Percentile, linear interpolation between closest ranks, second
    // variant
    ['Wikipedia', [15, 20, 35, 40, 50], 40, 29],
    ['Wikipedia', [1, 2, 3, 4], 75, 3.25],
    // https://help.altair.com/panopticon/authoring/WebAuth_Guide/Percentile.htm, the column of
    // decimals
    ['Altair', [1.01, 2.02, 3.03, 4.04, 5.05, 6.06, 7.07, 8.08, 9.09, 0], 50, 4.545],
  ])('is what %s publishes for %j at %d', (_where, values, percent, result) => {
    expect(percentile(ascending(values), percent)).toBeCloseTo(result, 12);
  });

  it('equals the formula with fractions', () => {
    const values = fc.array(fc.integer({ min: -1e6, max: 1e9 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(values, fc.integer({ min: 0, max: 100 }), (list, percent) => {
        const sorted = [...list].sort((a, b) => a - b);
        const rank = (percent / 100) * (sorted.length - 1);
        const [low, high] = [Math.floor(rank), Math.ceil(rank)].map((i) => sorted[i] ?? Number.NaN);
        const wanted = (low ?? 0) + (rank - Math.floor(rank)) * ((high ?? 0) - (low ?? 0));
        expect(percentile(ascending(list), percent)).toBeCloseTo(wanted, 4);
      }),
    );
  });

  it('lies between the least and the greatest value, which are those at 0 and 100', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer(), { minLength: 1 }),
        fc.integer({ min: 0, max: 100 }),
        (list, percent) => {
          const values = ascending(list);
          const found = percentile(values, percent);
          expect(found).toBeGreaterThanOrEqual(Math.min(...list));
          expect(found).toBeLessThanOrEqual(Math.max(...list));
          expect(percentile(values, 0)).toBe(Math.min(...list));
          expect(percentile(values, 100)).toBe(Math.max(...list));
        },
      ),
    );
  });

  it('is the nearest double, in another unit as well', () => {
    expect(percentile([1, 2], 50, 1000)).toBe(0.0015);
    expect(percentile([0, 1], 99, 1000)).toBe(0.00099);
    // 0.99 × 3 is 2.9699999999999998.
    expect(percentile([0, 1, 2, 3], 99)).toBe(2.97);
    expect(percentile([1234567], 50, 1000)).toBe(1234.567);
  });
});
