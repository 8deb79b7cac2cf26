import fc from 'fast-check';
import { expect, it } from 'vitest';
import { gaps, hoursOf, type Knowledge, type Span } from '../../../../../core/questions/stats/hours.ts';
import { hourMicros } from '../../../../../core/records/rollups.ts';
import { runs } from '../../../../support/sampling.ts';

const spanOver = (knowledge: readonly Knowledge[]): Span => [
  hourMicros / 2,
  (knowledge.length + 1.5) * hourMicros,
];

/** The gaps of a span whose whole hours, from hour 1 on, are known so; in hours. */
const gapsOf = (knowledge: readonly Knowledge[], span = spanOver(knowledge)) =>
  gaps(span, hoursOf(span, []), (hour) => knowledge[hour - 1] ?? 'nothing').map(([from, to]) => [
    from / hourMicros,
    to / hourMicros,
  ]);

it('hours without calls are scanned with those around them, not left out one by one', () => {
  expect(gapsOf(['nothing', 'none', 'none', 'nothing', 'calls', 'none', 'calls', 'nothing'])).toEqual([
    [0.5, 5],
    [8, 9.5],
  ]);
});

it('hours without calls at the ends of a range are left out', () => {
  expect(gapsOf(['calls', 'none', 'nothing', 'none', 'calls', 'calls'])).toEqual([
    [0.5, 1],
    [3, 4],
    [7, 7.5],
  ]);
  expect(gapsOf(['none', 'none', 'nothing'], [hourMicros, 3 * hourMicros])).toEqual([]);
});

it('a span within an hour is one range', () => {
  expect(gapsOf([], [0.25 * hourMicros, 0.5 * hourMicros])).toEqual([[0.25, 0.5]]);
});

it('all of which nothing is known is in a range, once, and no hour with known calls', () => {
  const hour = fc.constantFrom<Knowledge>('calls', 'none', 'nothing');
  fc.assert(
    fc.property(fc.array(hour, { maxLength: 40 }), (knowledge) => {
      const ranges = gapsOf(knowledge);
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
