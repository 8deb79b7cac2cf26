import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Distinct } from '../../../../../core/questions/issues/tally.ts';

const countOf = (texts: Iterable<string>): Distinct => {
  const counted = new Distinct();
  for (const text of texts) counted.add(text);
  return counted;
};

const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `trace-${from + i}`);

describe('distinct texts', () => {
  it('are counted exactly up to 128, however often each comes', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 128 }), (texts) => {
        expect(countOf([...texts, ...texts]).count).toBe(new Set(texts).size);
      }),
    );
  });

  it.each([1000, 20_000])('are estimated within three standard errors: %i', (count) => {
    expect(Math.abs(countOf(names(0, count)).count / count - 1)).toBeLessThan(0.27);
  });

  it('are the same in any order, merged, and stored in between', () => {
    const parts = [names(0, 200), names(100, 700), names(650, 660)];
    const whole = countOf(parts.flat()).count;
    for (const order of [parts, parts.toReversed()]) {
      const merged = new Distinct();
      for (const part of order) merged.merge(Distinct.from(countOf(part).toBytes()));
      expect(merged.count).toBe(whole);
    }
  });
});
