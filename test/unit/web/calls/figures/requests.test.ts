import { describe, expect, it } from 'vitest';
import { toGroups } from '../../../../../web/calls/figures/figures.ts';
import {
  callsIn,
  callsOfGroup,
  countedBy,
  getGrouping,
  isFiltered,
  isRead,
  toPeriod,
  totalsRequest,
  unfilteredOf,
  wholeRequest,
} from '../../../../../web/calls/figures/requests.ts';

const project = 'acme/shop';
const now = Date.parse('2026-10-02T12:00:30Z');

describe('the period of the overview', () => {
  it('is the last day without a choice, to the end of the present minute', () => {
    const { start, end, before, granularity } = toPeriod({}, now);
    expect([start, end].map((ms) => new Date(ms).toISOString())).toEqual([
      '2026-10-01T12:01:00.000Z',
      '2026-10-02T12:01:00.000Z',
    ]);
    expect(before).toEqual({ start: start - 86_400_000, end: start });
    expect(granularity).toBe(1800);
  });

  it.each([
    ['1h', 60],
    ['7d', 10_800],
    ['30d', 43_200],
  ] as const)('%s has points of %i seconds, few enough to click', (range, seconds) => {
    const { start, end, granularity } = toPeriod({ range }, now);
    expect(granularity).toBe(seconds);
    expect((end - start) / 1000 / granularity).toBeLessThanOrEqual(62);
  });

  it('is what a link says, and a day before its end if the link makes no sense', () => {
    const from = '2026-09-01T00:00:00Z';
    const to = '2026-09-03T00:00:00Z';
    const { start, end, before } = toPeriod({ from, to }, now);
    expect([start, end, before.start]).toEqual(
      [from, to, '2026-08-30T00:00:00Z'].map((time) => Date.parse(time)),
    );
    expect(toPeriod({ from: to, to: from }, now).start).toBe(Date.parse('2026-08-31T00:00:00Z'));
  });
});

describe('what the overview counts', () => {
  const period = toPeriod({}, now);
  const where = [{ path: 'attributes.release', op: 'is', value: 'v1.4' }] as const;

  it('is production, of all levels, which rollups know', () => {
    const counted = countedBy({ project });
    expect(isFiltered(counted)).toBe(false);
    expect(wholeRequest(counted, period)).toMatchObject({ filter: { sources: ['production'] } });
    expect(wholeRequest(counted, period)).not.toHaveProperty('query');
    expect(callsIn(counted, period)).toMatchObject({ project, all: true });
  });

  it('is what the filters of the list say, in its requests and its links', () => {
    const counted = countedBy({ project, roots: true, source: 'test', status: ['error'], where });
    expect(isFiltered(counted)).toBe(true);
    expect(totalsRequest(counted, period, undefined)).toMatchObject({
      filter: { trace_roots_only: true, sources: ['test'] },
      query: {
        $expr: {
          $and: [
            { $in: [{ $getField: 'summary.svc.status' }, [{ $literal: 'error' }]] },
            { $eq: [{ $getField: 'attributes.release' }, { $literal: 'v1.4' }] },
          ],
        },
      },
    });
    expect(isFiltered(unfilteredOf(counted))).toBe(false);
    const link = callsOfGroup(counted, period, 'op', 'answer');
    expect(link).toMatchObject({ source: 'test', status: ['error'] });
    expect(link.where).toEqual([...where, { path: 'op_name', op: 'is', value: 'answer' }]);
  });

  it('may be told apart by sources, which links choose in place of the one that is counted', () => {
    const counted = countedBy({ project, source: 'all' });
    expect(totalsRequest(counted, period, 'source')).toMatchObject({ group_by: ['source'] });
    expect(totalsRequest(counted, period, 'source')).not.toHaveProperty('filter');
    expect(callsOfGroup(counted, period, 'source', 'judge').source).toBe('judge');
    expect(callsOfGroup(counted, period, 'source', 'production')).not.toHaveProperty('source');
  });
});

describe('groups by a score', () => {
  const score = 'feedback.[thumbs].payload.up';
  const period = toPeriod({}, now);

  it('are asked for by its type and its path, and are read from the calls', () => {
    const grouping = getGrouping('score', score);
    expect(totalsRequest(countedBy({ project }), period, grouping)).toMatchObject({
      group_by_feedback: { feedback_type: 'thumbs', path: 'up' },
    });
    expect(isRead(grouping)).toBe(true);
    expect(isRead(getGrouping('op'))).toBe(false);
    expect(getGrouping('score', 'nothing')).toBe('op_name');
  });

  it('lead to the calls that have it, by a value with its type', () => {
    expect(callsOfGroup(countedBy({ project }), period, 'score', 'true', score)).toMatchObject({
      where: [{ path: score, op: 'is', value: 'true' }],
    });
    const answer = {
      call_buckets: [true, 'true', 4].map((feedback) => ({
        timestamp: '2026-10-01T12:00:00Z',
        feedback,
        sum_call_count: 1,
      })),
      usage_buckets: [],
    };
    expect(toGroups(answer, 'feedback').map(({ group }) => group)).toEqual(['true', '"true"', '4']);
  });
});
