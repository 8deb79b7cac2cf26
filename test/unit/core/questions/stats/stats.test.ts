import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Numbers } from '../../../../../core/questions/stats/cells.ts';
import { findHours, gaps, type Knowledge, type Span } from '../../../../../core/questions/stats/hours.ts';
import { hourMicros } from '../../../../../core/records/rollups.ts';
import { runs, seed } from '../../../../support/run/sampling.ts';
import { exactPercentile } from '../../../../support/values/naive-stats.ts';

const values = fc.array(
  fc.oneof(fc.integer({ min: -10_000, max: 5_000_000 }), fc.double({ min: 1e-9, max: 1e9, noNaN: true })),
  { minLength: 1, maxLength: 200 },
);

const toNumbers = (list: readonly number[]): Numbers => {
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
        const exact = exactPercentile(list, at);
        const result = percentile(toNumbers(list), at);
        const sorted = list.toSorted((a, b) => a - b);
        const rank = (at / 100) * (list.length - 1);
        const low = sorted[Math.floor(rank)] ?? 0;
        const high = sorted[Math.ceil(rank)] ?? 0;
        const scale = low < 0 && high > 0 ? Math.max(-low, high) : Math.abs(exact);
        expect(Math.abs(result - exact)).toBeLessThanOrEqual(0.01 * scale * (1 + 1e-9) + 1e-12);
      }),
      { numRuns: runs(300), seed },
    );
  });

  it('is the same however it was merged', () => {
    fc.assert(
      fc.property(values, values, values, (a, b, c) => {
        const leftFirst = toNumbers(a);
        leftFirst.merge(toNumbers(b));
        leftFirst.merge(toNumbers(c));
        const rightFirst = toNumbers(c);
        rightFirst.merge(toNumbers(b));
        rightFirst.merge(toNumbers(a));
        const all = toNumbers([...a, ...b, ...c]);
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
    const numbers = toNumbers([123.456, -7, 0, 99_999]);
    expect([percentile(numbers, 0), percentile(numbers, 100)]).toEqual([-7, 99_999]);
  });
});

const spanOver = (knowledge: readonly Knowledge[]): Span => [
  hourMicros / 2,
  (knowledge.length + 1.5) * hourMicros,
];

/** The gaps of a span whose whole hours, from hour 1 on, are known so; in hours. */
const findGaps = (knowledge: readonly Knowledge[], span = spanOver(knowledge)) =>
  gaps(span, findHours(span, []), (hour) => knowledge[hour - 1] ?? 'nothing').map(([from, to]) => [
    from / hourMicros,
    to / hourMicros,
  ]);

it('hours without calls are scanned with those around them, not left out one by one', () => {
  expect(findGaps(['nothing', 'none', 'none', 'nothing', 'calls', 'none', 'calls', 'nothing'])).toEqual([
    [0.5, 5],
    [8, 9.5],
  ]);
});

it('hours without calls at the ends of a range are left out', () => {
  expect(findGaps(['calls', 'none', 'nothing', 'none', 'calls', 'calls'])).toEqual([
    [0.5, 1],
    [3, 4],
    [7, 7.5],
  ]);
  expect(findGaps(['none', 'none', 'nothing'], [hourMicros, 3 * hourMicros])).toEqual([]);
});

it('a span within an hour is one range', () => {
  expect(findGaps([], [0.25 * hourMicros, 0.5 * hourMicros])).toEqual([[0.25, 0.5]]);
});

it('all of which nothing is known is in a range, once, and no hour with known calls', () => {
  const hour = fc.constantFrom<Knowledge>('calls', 'none', 'nothing');
  fc.assert(
    fc.property(fc.array(hour, { maxLength: 40 }), (knowledge) => {
      const ranges = findGaps(knowledge);
      const rangesWith = (time: number) => ranges.filter(([from = 0, to = 0]) => from <= time && time < to);
      expect(rangesWith(0.5)).toHaveLength(1);
      expect(rangesWith(knowledge.length + 1.25)).toHaveLength(1);
      for (const [i, known] of knowledge.entries()) {
        const { length } = rangesWith(i + 1.5);
        if (known === 'nothing') expect(length).toBe(1);
        if (known === 'calls') expect(length).toBe(0);
      }
      for (const [i, [from = 0]] of ranges.entries()) {
        const before = ranges[i - 1]?.[1] ?? 0;
        if (i > 0) expect(knowledge.slice(before - 1, from - 1)).toContain('calls');
      }
    }),
    { numRuns: runs(50, 1000) },
  );
});
