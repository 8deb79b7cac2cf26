import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Numbers } from '../../../../../core/questions/stats/cells.ts';
import { exactPercentile } from '../../../../support/naive-stats.ts';
import { runs, seed } from '../../../../support/sampling.ts';

const values = fc.array(
  fc.oneof(fc.integer({ min: -10_000, max: 5_000_000 }), fc.double({ min: 1e-9, max: 1e9, noNaN: true })),
  { minLength: 1, maxLength: 200 },
);

const numbersOf = (list: readonly number[]): Numbers => {
  const numbers = new Numbers(true);
  for (const value of list) numbers.add(value);
  return numbers;
};

const percentile = (numbers: Numbers, at: number): number =>
  numbers.sketch?.percentiles([at], [numbers.min, numbers.max])[0] ?? Number.NaN;

describe('a sketch', () => {
  it('tells percentiles within 1 % of the exact ones, where neighbours have one sign', () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 100, noNaN: true }), (list, at) => {
        const [exact, told] = [exactPercentile(list, at), percentile(numbersOf(list), at)];
        const sorted = list.toSorted((a, b) => a - b);
        const rank = (at / 100) * (list.length - 1);
        const [low = 0, high = 0] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
        const scale = low < 0 && high > 0 ? Math.max(-low, high) : Math.abs(exact);
        expect(Math.abs(told - exact)).toBeLessThanOrEqual(0.01 * scale * (1 + 1e-9) + 1e-12);
      }),
      { numRuns: runs(300), seed },
    );
  });

  it('is the same however it was merged', () => {
    fc.assert(
      fc.property(values, values, values, (a, b, c) => {
        const leftFirst = numbersOf(a);
        leftFirst.merge(numbersOf(b));
        leftFirst.merge(numbersOf(c));
        const rightFirst = numbersOf(c);
        rightFirst.merge(numbersOf(b));
        rightFirst.merge(numbersOf(a));
        const all = numbersOf([...a, ...b, ...c]);
        for (const at of [0, 1, 25, 50, 90, 99.9, 100]) {
          expect(percentile(leftFirst, at)).toBe(percentile(all, at));
          expect(percentile(rightFirst, at)).toBe(percentile(all, at));
        }
        expect([leftFirst.count, leftFirst.min, leftFirst.max]).toEqual([all.count, all.min, all.max]);
      }),
      { numRuns: runs(100), seed },
    );
  });

  it('tells the extremes exactly', () => {
    const numbers = numbersOf([123.456, -7, 0, 99_999]);
    expect([percentile(numbers, 0), percentile(numbers, 100)]).toEqual([-7, 99_999]);
  });
});
