import { describe, expect, it } from 'vitest';
import { textOf, timeOf } from '../../../../web/navigation/search.ts';

describe('a value of a URL', () => {
  it('is text, also if it was read as a number or a boolean', () => {
    expect(['a', 12, true].map(textOf)).toEqual(['a', '12', 'true']);
  });

  it('is dropped if it is empty or anything else', () => {
    expect([undefined, null, '', ['a'], { a: 1 }].map(textOf)).toEqual(Array(5).fill(undefined));
  });

  it('is a time as it is written, if it is one', () => {
    expect(timeOf('2026-01-02T03:04:05Z')).toBe('2026-01-02T03:04:05Z');
    expect(timeOf('yesterday')).toBeUndefined();
    expect(timeOf(undefined)).toBeUndefined();
  });
});
