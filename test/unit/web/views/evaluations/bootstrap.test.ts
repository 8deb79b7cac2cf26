import { describe, expect, it } from 'vitest';
import { computeChance, fewestRows } from '../../../../../web/views/evaluations/bootstrap.ts';

/** Numbers of a normal distribution with mean 0 and deviation 1, by Box and Muller; the same each time. */
const normal = (count: number): number[] =>
  Array.from({ length: count }, (_, at) => {
    const one = (at * 0.754877666 + 0.31) % 1;
    const other = (at * 0.569840291 + 0.17) % 1;
    return Math.sqrt(-2 * Math.log(one || 0.5)) * Math.cos(2 * Math.PI * other);
  });

describe('whether a difference could be chance', () => {
  it('is close to what is known of a normal distribution', () => {
    const values = normal(1000);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const { difference, low, high, share } = computeChance(values.map((value) => value - mean + 0.05)) ?? {};
    // The mean of 1,000 has a deviation of 0.0316: 1.96 of it on both sides, and z = 1.58 has 5.7 % below 0.
    expect(difference).toBeCloseTo(0.05, 10);
    expect(low).toBeCloseTo(0.05 - 1.96 * 0.0316, 2);
    expect(high).toBeCloseTo(0.05 + 1.96 * 0.0316, 2);
    expect(share).toBeGreaterThan(0.04);
    expect(share).toBeLessThan(0.075);
  });

  it('agrees with the binomial distribution, where it is known exactly', () => {
    // Of ten rows one fell. No draw of ten has it in 0.9 ** 10 = 34.9 % of the cases.
    const { share, low, high } = computeChance([-1, ...Array<number>(9).fill(0)]) ?? {};
    expect(share).toBeCloseTo(0.349, 1);
    expect(low).toBeCloseTo(-0.3, 10);
    expect(high).toBe(0);
  });

  it('is out of the question if every row changed in the same way', () => {
    const chance = computeChance(Array<number>(20).fill(-0.25));
    expect(chance).toMatchObject({ difference: -0.25, low: -0.25, high: -0.25, share: 0 });
  });

  it('is certain where nothing changed, and where changes cancel each other out', () => {
    expect(computeChance(Array<number>(20).fill(0))).toMatchObject({
      difference: 0,
      low: 0,
      high: 0,
      share: 1,
    });
    const { share = 0 } = computeChance([0.1, -0.1, 0.3, -0.3, 0.2, -0.2, 0.1, 0.2, -0.3]) ?? {};
    expect(share).toBeGreaterThan(0.4);
  });

  it('is the same each time, and mirrors what is mirrored', () => {
    const values = [0.2, -0.1, 0.4, 0, 0.3, -0.2, 0.5, 0.1];
    const once = computeChance(values);
    expect(computeChance(values)).toEqual(once);
    const mirrored = computeChance(values.map((value) => -value));
    expect(mirrored?.share).toBe(once?.share);
    expect(mirrored?.high).toBeCloseTo(-(once?.low ?? 0), 1);
  });

  it('cannot be told of fewer rows than could show it', () => {
    expect(computeChance(Array<number>(fewestRows - 1).fill(1))).toBeUndefined();
  });

  it('is told of many rows with fewer draws', () => {
    expect(computeChance(Array<number>(500).fill(1))?.draws).toBe(2000);
    expect(computeChance(Array<number>(20_000).fill(1))?.draws).toBe(200);
  });
});
