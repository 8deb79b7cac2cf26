import { describe, expect, it } from 'vitest';
import type { ObjectVersion } from '../../../../../web/api/contract.ts';
import {
  isWide,
  keepChart,
  moved,
  parseChart,
  parseDashboard,
  storedTitle,
  titleOf,
  toValue,
  withChart,
} from '../../../../../web/calls/dashboards/dashboard.ts';

const version = (val: unknown) => ({ object_id: 'dashboard-1', digest: 'abc', val }) as ObjectVersion;
const thumbs = { type: 'thumbs', field: 'up' };

describe('a chart of a dashboard', () => {
  it('is kept with its calls and its groups, as requests call them, and read again', () => {
    const where = [{ path: 'attributes.release', op: 'is' as const, value: '1.2' }];
    const stored = keepChart(
      { metric: 'total_cost', by: 'model', calls: { all: true, where } },
      'Cost of 1.2',
    );
    expect(stored).toEqual({
      title: 'Cost of 1.2',
      metric: 'total_cost',
      group_by: 'model',
      filter: { sources: ['production'] },
      query: {
        $expr: { $and: [{ $eq: [{ $getField: 'attributes.release' }, { $literal: 1.2 }] }] },
      },
    });
    expect(parseChart(stored)).toMatchObject({ title: 'Cost of 1.2', metric: 'total_cost', by: 'model' });
    expect(keepChart({ metric: 'call_count', by: 'op' })).toEqual({
      metric: 'call_count',
      group_by: 'op_name',
    });
  });

  it('is of a score, or grouped by one', () => {
    const score = keepChart({ metric: 'score', score: thumbs, kind: 'distribution' });
    expect(score).toEqual({
      metric: 'score',
      score: { feedback_type: 'thumbs', path: 'up' },
      kind: 'distribution',
    });
    expect(parseChart(score)).toMatchObject({ score: thumbs, kind: 'distribution' });
    expect(storedTitle(score)).toBe('Distribution of thumbs');
    const grouped = keepChart({
      metric: 'latency_ms',
      by: 'score',
      byScore: 'feedback.[thumbs].payload.up',
    });
    expect(grouped).toEqual({
      metric: 'latency_ms',
      group_by_feedback: { feedback_type: 'thumbs', path: 'up' },
    });
    expect(parseChart(grouped)).toMatchObject({ by: 'score', byScore: 'feedback.[thumbs].payload.up' });
    expect(storedTitle(grouped)).toBe('p95 latency');
  });

  it('has a percentile of its own, and is called by the one that is shown', () => {
    const stored = keepChart({ metric: 'latency_ms', by: 'op', percentile: 'p99' });
    expect(stored).toEqual({ metric: 'latency_ms', group_by: 'op_name', percentile: 99 });
    const chart = parseChart(stored);
    expect(chart?.percentile).toBe('p99');
    expect(chart && [titleOf(chart), titleOf(chart, 'p90')]).toEqual(['p99 latency', 'p90 latency']);
    expect(parseChart({ ...stored, percentile: 42 })?.percentile).toBeUndefined();
  });

  it.each([
    [{ metric: 'from the future' }, 'Unknown chart'],
    [{ metric: 'score', title: 'Of nothing' }, 'Of nothing'],
    [{ metric: 'call_count', group_by: 'moon' }, 'Unknown chart'],
  ])('is not understood as %o, and has a name all the same', (stored, title) => {
    expect(parseChart(stored)).toBeUndefined();
    expect(storedTitle(stored)).toBe(title);
  });

  it('has another place', () => {
    expect(moved(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a']);
    expect(moved(['a', 'b'], 1, 2)).toEqual(['a', 'b']);
    expect(moved(['a', 'b'], 0, -1)).toEqual(['a', 'b']);
  });
});

describe('a dashboard', () => {
  const value = {
    _type: 'Dashboard',
    name: 'Shop',
    charts: [{ metric: 'call_count', columns: 2, later: 1 }, 'no chart'],
    is_start: true,
    owner: 'ada',
  };

  it('is an object of its class', () => {
    expect(parseDashboard(version({ _type: 'SavedView', name: 'Shop' }))).toBeUndefined();
    expect(parseDashboard(version({ _type: 'Dashboard' }))).toMatchObject({
      name: 'dashboard-1',
      charts: [],
    });
    const dashboard = parseDashboard(version(value));
    expect(dashboard).toMatchObject({ name: 'Shop', isStart: true, digest: 'abc' });
    expect(dashboard?.charts.map(isWide)).toEqual([true]);
  });

  it('keeps what the page does not know', () => {
    const dashboard = parseDashboard(version(value));
    if (!dashboard) throw new Error('no dashboard');
    expect(toValue(dashboard.value, { name: 'Store', charts: dashboard.charts, isStart: false })).toEqual({
      _type: 'Dashboard',
      name: 'Store',
      owner: 'ada',
      charts: [{ metric: 'call_count', columns: 2, later: 1 }],
    });
  });

  it('has a chart more, whoever has changed it meanwhile', () => {
    const chart = { metric: 'error_count' };
    expect(withChart('New', chart)(undefined)).toEqual({ name: 'New', charts: [chart], isStart: false });
    const latest = parseDashboard(version(value));
    expect(withChart('', chart)(latest)).toMatchObject({ name: 'Shop', isStart: true });
    expect(withChart('', chart)(latest).charts).toHaveLength(2);
  });
});
