import { describe, expect, it } from 'vitest';
import { toTyped, typedNumbers } from '../../../../../web/views/settings/numbers.ts';

const labels = { usd_per_day: 'Dollars a day', usd_per_month: 'Dollars a month' } as const;
const fields = ['usd_per_day', 'usd_per_month'] as const;

describe('what a form has typed', () => {
  it('is the numbers that are stored, and nothing for those that are not', () => {
    expect(toTyped({ usd_per_day: 2.5 }, fields)).toEqual({ usd_per_day: '2.5', usd_per_month: '' });
  });

  it.each([
    ['2.5', 2.5],
    [' 2,5 ', 2.5],
    ['1e3', 1000],
  ])('%j is a number', (usd_per_day, number) => {
    expect(typedNumbers({ usd_per_day, usd_per_month: '' }, labels)).toEqual({ usd_per_day: number });
  });

  it.each(['0', '-1', 'ten', '1 000', 'Infinity'])('%j is none, and the error names the field', (text) => {
    expect(() => typedNumbers({ usd_per_day: '1', usd_per_month: text }, labels)).toThrow(
      'Dollars a month: enter a number above 0, or nothing.',
    );
  });

  it('is a whole number where only those count', () => {
    expect(() => typedNumbers({ usd_per_day: '1.5', usd_per_month: '' }, labels, true)).toThrow(
      'enter a whole number above 0',
    );
  });
});
