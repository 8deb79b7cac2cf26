import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../core/foundations/wire/index.ts';
import { maxDetailBytes, withFitting } from '../../../../../core/workers/events/events.ts';

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('a detail', () => {
  it('has fields that fit as they are', () => {
    expect(withFitting({ id: 'a' }, { inputs: { n: 1 }, output: null })).toEqual({
      id: 'a',
      inputs: { n: 1 },
      output: null,
    });
  });

  it('has the beginning of a field that does not fit, and says so', () => {
    const big = { text: '"'.repeat(maxDetailBytes) };
    const detail = withFitting({ id: 'a' }, { inputs: big, output: 'short' });
    expect(detail).toMatchObject({ id: 'a', output: 'short', cut: ['inputs'] });
    expect(JSON.stringify(big).startsWith(String(detail.inputs))).toBe(true);
    expect(sizeOf(detail)).toBeGreaterThan(maxDetailBytes / 3);
  });

  it('never has more bytes than the bus takes', () => {
    const text = fc.tuple(fc.constantFrom('a', '"', 'é', '🙂', '\n'), fc.nat(200_000));
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
        const fields: JsonObject = Object.fromEntries(
          texts.map(([letter, times], at) => [`field${at}`, letter.repeat(times)]),
        );
        expect(sizeOf(withFitting({ id: 'a' }, fields))).toBeLessThanOrEqual(maxDetailBytes);
      }),
      { numRuns: 20 },
    );
  });
});
