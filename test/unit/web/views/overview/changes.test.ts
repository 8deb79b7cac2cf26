import { describe, expect, it } from 'vitest';
import { changesOf } from '../../../../../web/views/overview/changes.ts';
import type { GroupFigures } from '../../../../../web/views/overview/figures.ts';

const figures = (group: string, of: Partial<GroupFigures> = {}): GroupFigures => ({
  group,
  calls: 100,
  errors: 0,
  p50: 50,
  p95: 100,
  tokens: 0,
  cost: 1,
  ...of,
});

describe('what became worse', () => {
  it('is what is slower, dearer a call, or fails more often, the worst first', () => {
    const before = [figures('a'), figures('b'), figures('c'), figures('same')];
    const now = [
      figures('a', { p95: 130 }),
      figures('b', { cost: 2, calls: 50 }),
      figures('c', { errors: 30 }),
      figures('same', { calls: 900, cost: 9, p95: 105, errors: 15 }),
    ];
    expect(changesOf(before, now).map(({ group, worse }) => [group, worse])).toEqual([
      ['c', 'faultier'],
      ['b', 'dearer'],
      ['a', 'slower'],
    ]);
  });

  it('is nothing of groups with a few calls, new ones, or those that became better', () => {
    const before = [
      figures('rare', { calls: 2 }),
      figures('better', { p95: 900 }),
      figures('fast', { p95: 1 }),
    ];
    const now = [
      figures('rare', { p95: 9000 }),
      figures('better'),
      figures('new', { errors: 100 }),
      figures('fast', { p95: 3 }),
    ];
    expect(changesOf(before, now)).toEqual([]);
  });
});
