import { describe, expect, it } from 'vitest';
import { counted, measured, median, rounded, toRow, verdict } from '../../../../bench/harness/figures.ts';

describe('a figure', () => {
  it('of several runs has their median and the spread without the outermost', () => {
    const runs = [5, 1, 2, 3, 4, 6, 7, 8, 9, 100, 0];
    expect(measured('x', 'ms', runs)).toMatchObject({ runs: 11, median: 5, spread: 9 - 1 });
  });

  it('of an even number of runs has a median between the two middle ones', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  it('meets or misses its bound if it has one', () => {
    expect(verdict(counted('x', 'units', 3.3, { atMost: 3.3 }))).toBe('met');
    expect(verdict(counted('x', 'units', 3.31, { atMost: 3.3 }))).toBe('missed');
    expect(verdict(counted('x', 'units', 3))).toBe('');
  });

  it('is printed with the components of its sum, without zeros', () => {
    const figure = counted('x', 'units', 3, { of: { table: 1, by_time: 2, by_trace: 0 }, atMost: 4 });
    expect(toRow(figure)).toMatchObject({ median: 3, 'made of': 'table 1, by_time 2', floor: '4: met' });
  });

  it('is rounded to three digits, and to integers from 100 on', () => {
    expect([0.012345, 7.8912, 99.96, 12_345.6].map(rounded)).toEqual([0.0123, 7.89, 100, 12_346]);
  });
});
