import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DayExtremes,
  maxExtremes,
  packExtremes,
  unpackExtremes,
} from '../../../../core/records/extremes.ts';

const dayMicros = 86_400_000_000;

const extreme = (day: number) =>
  fc.record({
    id: fc.oneof(fc.uuid(), fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' })),
    startedAt: fc.nat({ max: dayMicros - 1 }).map((micros) => day * dayMicros + micros),
    value: fc.option(
      fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true }), fc.constant(-0)),
    ),
    endPart: fc.constantFrom('S' as const, 'E' as const),
  });

const known = fc.integer({ min: -100_000, max: 100_000 }).chain((day) =>
  fc.record({
    day: fc.constant(day),
    prices: fc.constantFrom('', 'a'.repeat(32)),
    hours: fc
      .dictionary(
        fc.nat({ max: 23 }).map(String),
        fc.record({
          mark: fc.oneof(fc.constantFrom(0, Number.MAX_SAFE_INTEGER), fc.maxSafeNat()),
          hasCalls: fc.boolean(),
        }),
      )
      .map((hours) => new Map(Object.entries(hours).map(([hour, of]) => [day * 24 + Number(hour), of]))),
    entries: fc.array(extreme(day), { maxLength: maxExtremes }),
    hasMore: fc.boolean(),
  }),
);

describe('what is known of a day', () => {
  it('is packed without loss', () => {
    fc.assert(
      fc.property(known, (day: DayExtremes) => {
        expect(unpackExtremes(day.day, packExtremes(day))).toEqual(day);
      }),
    );
  });

  it('takes at most four write units with the ids that the service makes', () => {
    const entries = Array.from({ length: maxExtremes }, (_, i) => ({
      id: `01a0f4c2-c400-7306-ac43-${String(i).padStart(12, '0')}`,
      startedAt: 20_000 * dayMicros + i * 600_000_001,
      value: 90_000 - i,
      endPart: 'S' as const,
    }));
    const hours = new Map(Array.from({ length: 24 }, (_, i) => [480_000 + i, { mark: 0, hasCalls: true }]));
    const packed = packExtremes({ day: 20_000, prices: '', hours, entries, hasMore: true });
    expect(packed.length).toBeLessThan(4 * 1024 - 100);
  });

  it('is made anew where another release wrote it otherwise, and says so where it is damaged', () => {
    const packed = packExtremes({ day: 1, prices: '', hours: new Map(), entries: [], hasMore: false });
    expect(unpackExtremes(1, Buffer.concat([Buffer.of(99), packed.subarray(1)]))).toBeUndefined();
    expect(() => unpackExtremes(1, packed.subarray(0, 5))).toThrow('too early');
  });
});
