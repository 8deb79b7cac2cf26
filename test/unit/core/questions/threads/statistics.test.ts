import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentile, ThreadFold, type Turn } from '../../../../../core/questions/threads/statistics.ts';
import { formatTime } from '../../../../../foundations/wire/index.ts';

const turn = (id: string, startedAt: number, endedAt: number | null): Turn => ({ id, startedAt, endedAt });

const fold = (first: Turn, ...more: Turn[]) => {
  const thread = new ThreadFold('thread', first);
  for (const turn of more) thread.add(turn);
  return thread.row();
};

describe('the statistics of a thread', () => {
  it('equal the turn if there is only one', () => {
    expect(fold(turn('a', 1000, 3500))).toEqual({
      thread_id: 'thread',
      turn_count: 1,
      start_time: formatTime(1000),
      last_updated: formatTime(3500),
      first_turn_id: 'a',
      last_turn_id: 'a',
      p50_turn_duration_ms: 2.5,
      p99_turn_duration_ms: 2.5,
    });
  });

  it('have the start of a running turn and no durations', () => {
    expect(fold(turn('a', 1000, null))).toMatchObject({
      last_updated: formatTime(1000),
      p50_turn_duration_ms: null,
      p99_turn_duration_ms: null,
    });
  });

  it('count running turns, but only durations of finished ones', () => {
    expect(fold(turn('a', 0, 1000), turn('b', 2000, null), turn('c', 500, 3500))).toMatchObject({
      turn_count: 3,
      last_updated: formatTime(3500),
      p50_turn_duration_ms: 2,
      p99_turn_duration_ms: 2.98,
    });
  });

  it('name the turn that started first and the one that was updated last', () => {
    const long = turn('long', 0, 9000);
    expect(fold(turn('short', 1000, 2000), long)).toMatchObject({
      first_turn_id: 'long',
      last_turn_id: 'long',
    });
    expect(fold(long, turn('next', 9500, null))).toMatchObject({
      first_turn_id: 'long',
      last_turn_id: 'next',
    });
    expect(fold(long, turn('beside', 500, null))).toMatchObject({
      last_updated: formatTime(9000),
      last_turn_id: 'long',
    });
  });

  it('break ties by start, then by id', () => {
    expect(fold(turn('b', 0, 5), turn('a', 0, 5))).toMatchObject({ first_turn_id: 'a', last_turn_id: 'b' });
    expect(fold(turn('z', 0, 5), turn('a', 5, null))).toMatchObject({
      first_turn_id: 'z',
      last_turn_id: 'a',
    });
  });

  it('are the same for any order of the turns', () => {
    const turns = fc.uniqueArray(
      fc.record({
        id: fc.string({ minLength: 1, maxLength: 2 }),
        startedAt: fc.nat(20),
        endedAt: fc.option(fc.nat(40)),
      }),
      { minLength: 1, selector: ({ id }) => id },
    );
    const shuffled = turns.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        expect(fold(...(list as [Turn]))).toEqual(fold(...(other as [Turn])));
      }),
    );
  });
});

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
