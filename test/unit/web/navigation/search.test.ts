import { describe, expect, it } from 'vitest';
import {
  parseEvaluateSearch,
  parseTraceSearch,
  readText,
  readTime,
} from '../../../../web/navigation/search.ts';

describe('a value of a URL', () => {
  it('is text, also if it was read as a number or a boolean', () => {
    expect(['a', 12, true].map(readText)).toEqual(['a', '12', 'true']);
  });

  it('is dropped if it is empty or anything else', () => {
    expect([undefined, null, '', ['a'], { a: 1 }].map(readText)).toEqual(Array(5).fill(undefined));
  });

  it('is a time as it is written, if it is one', () => {
    expect(readTime('2026-01-02T03:04:05Z')).toBe('2026-01-02T03:04:05Z');
    expect(readTime('yesterday')).toBeUndefined();
    expect(readTime(undefined)).toBeUndefined();
  });
});

describe('the URL of a new evaluation', () => {
  const versionsIn = (versions: unknown) => parseEvaluateSearch({ project: 'a/b', versions }).versions;

  it('names one version, or several', () => {
    expect([3, [0, 12]].map(versionsIn)).toEqual([[3], [0, 12]]);
    expect([undefined, 'v3', -1, 1.5, [null]].map(versionsIn)).toEqual(Array(5).fill(undefined));
  });
});

describe('the URL of a trace', () => {
  const of = { project: 'a/b', trace: 't' };

  it('says what it is shown as, also as earlier versions said it', () => {
    expect(parseTraceSearch({ ...of, as: 'timeline', only: 'agent:7' })).toEqual({
      ...of,
      as: 'timeline',
      only: 'agent:7',
    });
    expect(parseTraceSearch({ ...of, story: true })).toEqual({ ...of, as: 'story' });
    expect(parseTraceSearch({ ...of, story: true, as: 'graph' })).toEqual({ ...of, as: 'graph' });
    expect(parseTraceSearch({ ...of, as: 'poem' })).toEqual(of);
  });

  it('says what of its time is in sight', () => {
    const windows = ['12.5-13.2', '0-7', '13.2-12.5', '7-7', '-1-7', '1e3-2e3', 'all', 7];
    expect(windows.map((window) => parseTraceSearch({ ...of, window }).window)).toEqual([
      '12.5-13.2',
      '0-7',
      ...Array(6).fill(undefined),
    ]);
  });
});
