import { describe, expect, it } from 'vitest';
import type { Stats } from '../../../../../web/api/contract.ts';
import {
  findChanges,
  type GroupFigures,
  sortRows,
  toGroups,
  toPoints,
} from '../../../../../web/calls/figures/figures.ts';

const figures = (group: string, fields: Partial<GroupFigures> = {}): GroupFigures => ({
  group,
  calls: 100,
  errors: 0,
  p50: 50,
  p90: 90,
  p95: 100,
  p99: 110,
  tokens: 0,
  cost: 1,
  ...fields,
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
    expect(findChanges(before, now).map(({ group, worse }) => [group, worse])).toEqual([
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
    expect(findChanges(before, now)).toEqual([]);
  });
});

const at = (time: string) => `2026-10-01T${time}:00.000000Z`;
const ms = (time: string) => Date.parse(at(time));

const answer: Stats = {
  start: at('09:50'),
  end: at('11:15'),
  granularity: 1800,
  timezone: 'UTC',
  call_buckets: [
    { timestamp: at('09:30'), sum_call_count: 3, sum_error_count: 1, p50_latency_ms: 10, p95_latency_ms: 20 },
    {
      timestamp: at('11:00'),
      sum_call_count: 1,
      sum_error_count: 0,
      p50_latency_ms: null,
      p95_latency_ms: null,
    },
  ],
  usage_buckets: [
    {
      timestamp: at('09:30'),
      model: 'gpt-4o',
      sum_total_tokens: 10,
      count_total_tokens: 1,
      sum_total_cost: 0.5,
    },
    {
      timestamp: at('09:30'),
      model: 'own',
      sum_total_tokens: 5,
      count_total_tokens: 2,
      sum_total_cost: null,
    },
  ],
};

describe('the points of a chart', () => {
  it('are all buckets of the period, cut to it, those without calls included', () => {
    const points = toPoints(answer, { start: ms('09:50'), end: ms('11:15') }, undefined);
    expect(points.map(({ from, to, calls }) => [from, to, calls])).toEqual([
      [ms('09:50'), ms('10:00'), 3],
      [ms('10:00'), ms('10:30'), 0],
      [ms('10:30'), ms('11:00'), 0],
      [ms('11:00'), ms('11:15'), 1],
    ]);
    expect(points[0]).toMatchObject({ errors: 1, p95: 20, tokens: 15, cost: 0.5 });
    expect(points[3]).toMatchObject({ p50: undefined, cost: undefined });
  });

  it('tell models apart by their usage, and anything else by the field', () => {
    expect(toGroups(answer, undefined).map(({ group, calls, cost }) => [group, calls, cost])).toEqual([
      ['gpt-4o', 1, 0.5],
      ['own', 2, undefined],
    ]);
    const calls = [
      { timestamp: at('10:00'), op_name: 'a', sum_call_count: 2 },
      { timestamp: at('10:00'), op_name: null, sum_call_count: 7 },
    ];
    const groups = toGroups({ call_buckets: calls, usage_buckets: [] }, 'op_name');
    expect(groups.map(({ group, calls }) => [group, calls])).toEqual([
      ['a', 2],
      [null, 7],
    ]);
  });
});

describe('rows', () => {
  it('are sorted by numbers and texts, and those without come last either way', () => {
    const rows = [2, undefined, 10, 1];
    const get = (row: number | undefined) => row;
    expect(sortRows(rows, '-n', get)).toEqual([10, 2, 1, undefined]);
    expect(sortRows(rows, 'n', get)).toEqual([1, 2, 10, undefined]);
    expect(sortRows(['v10', 'v2'], 'n', (row) => row)).toEqual(['v2', 'v10']);
  });
});
