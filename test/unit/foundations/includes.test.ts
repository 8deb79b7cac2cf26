import fc from 'fast-check';
import { expect, it } from 'vitest';
import { includes } from '../../../foundations/includes.ts';

/** Texts of few letters, which begin alike again and again. */
const text = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), maxLength, minLength: 0 });

it('a text has another as String.includes says', () => {
  fc.assert(
    fc.property(text(60), text(200), fc.nat(40), fc.nat(200), (piece, other, times, at) => {
      const whole = other + piece.repeat(times) + other;
      const sought = whole.slice(at, at + 150);
      expect(includes(whole, sought)).toBe(true);
      expect(includes(whole, `${sought}${piece}b`)).toBe(whole.includes(`${sought}${piece}b`));
      expect(includes(other, whole)).toBe(other.includes(whole));
    }),
  );
});

it('texts that nearly fit at every place take a moment, where V8 takes a quarter of an hour', () => {
  const half = 'a'.repeat(500_000);
  expect(includes('a'.repeat(6_000_000), `${half}b${half}`)).toBe(false);
  expect(includes('ab'.repeat(3_000_000), `bb${'ab'.repeat(400_000)}`)).toBe(false);
});
