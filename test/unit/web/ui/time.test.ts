import { describe, expect, it } from 'vitest';
import { lastDayBefore, nextDay, toLocalTime } from '../../../../web/ui/time.ts';

describe('a typed time', () => {
  it.each([
    ['', ''],
    [' 2026-10-01 12:30 ', '2026-10-01T12:30'],
    ['2026-10-01T12:30:15', '2026-10-01T12:30:15'],
    ['2026-10-01', '2026-10-01T00:00'],
  ])('%o is %o', (text, time) => {
    expect(toLocalTime(text)).toBe(time);
  });

  it.each([
    'yesterday',
    '2026-13-45 10:00',
    '2026-02-30',
    '2026-02-30 10:00',
    '2026-10-01 25:00',
    '2026-10-01 1',
  ])('%o is none', (text) => {
    expect(toLocalTime(text)).toBeUndefined();
  });
});

describe('a span of days', () => {
  it.each([
    ['2026-10-01', '2026-10-02'],
    ['2026-12-31', '2027-01-01'],
    ['2028-02-28', '2028-02-29'],
  ])('%s ends at midnight of %s', (day, next) => {
    expect(nextDay(day)).toBe(next);
    expect(lastDayBefore(`${next}T00:00`)).toBe(day);
  });

  it('ends on the day of its last moment', () => {
    expect(lastDayBefore('2026-10-01T00:01')).toBe('2026-10-01');
  });
});
