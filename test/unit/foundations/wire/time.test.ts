import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTime, parseTime } from '../../../../foundations/wire/index.ts';

describe('parseTime', () => {
  it.each([
    ['2026-10-01T00:00:17.524762Z', 1790812817524762],
    ['2026-10-01T02:00:17.524762+02:00', 1790812817524762],
    ['2026-09-30T19:30:17.524762-0430', 1790812817524762],
    ['2026-10-01 00:00:17.524762', 1790812817524762],
    ['2026-10-01T00:00:17,524762999Z', 1790812817524762],
    ['2026-10-01T00:00:17.5Z', 1790812817500000],
    ['2026-10-01T00:00Z', 1790812800000000],
    ['2026-10-01', 1790812800000000],
    ['1970-01-01T00:00:00Z', 0],
    ['1969-12-31T23:59:59.999999Z', -1],
    ['2024-02-29T00:00:00Z', 1709164800000000],
  ])('reads %s', (text, micros) => {
    expect(parseTime(text)).toBe(micros);
  });

  it.each([
    '',
    'yesterday',
    '2026-13-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-10-01T24:00:00Z',
    '2026-10-01T00:60:00Z',
    '2026-10-01T00:00:60Z',
    '2026-10-01T00:00:00+24:00',
    '2026-10-01T00:00:00Zjunk',
    '9999-12-31T23:59:59Z',
    '0001-01-01T00:00:00Z',
    '1790812817',
    `2026-10-01T00:00:00.${'1'.repeat(1000)}Z`,
  ])('refuses %j', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  it('restores to the microsecond what formatTime writes', () => {
    const span = fc.integer({ min: -8_900_000_000_000_000, max: 9_000_000_000_000_000 });
    fc.assert(fc.property(span, (micros) => parseTime(formatTime(micros)) === micros));
  });
});
