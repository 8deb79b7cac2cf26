import { describe, expect, it } from 'vitest';
import {
  callsOfPrompt,
  groupsRequest,
  mergeFigures,
  namePath,
  scoreRequest,
  selectionOfPrompts,
  toGroupScores,
  toGroups,
  toVersionGroups,
  versionPath,
} from '../../../../../web/views/prompts/figures.ts';

const span = { start: Date.parse('2026-10-01T00:00:00Z'), end: Date.parse('2026-10-08T00:00:00Z') };
const timestamp = '2026-10-01T00:00:00Z';

describe('the figures of prompts', () => {
  it('are asked for at once, by prompt or by version', () => {
    expect(groupsRequest(selectionOfPrompts('a/b'), span, namePath)).toMatchObject({
      project_id: 'a/b',
      filter: { sources: ['production'] },
      query: { $expr: { $and: [{ $ne: [{ $getField: namePath }, { $literal: null }] }] } },
      group_by: [namePath],
    });
    expect(
      scoreRequest(selectionOfPrompts('a/b', '12'), span, versionPath, { type: 'thumbs', field: 'up' }),
    ).toMatchObject({
      query: { $expr: { $and: [{ $eq: [{ $getField: namePath }, { $literal: '12' }] }] } },
      group_by: [versionPath],
      group_by_feedback: { feedback_type: 'thumbs', path: 'up' },
    });
  });

  it('are told apart by what calls say, whether that is a number or a text', () => {
    const bucket = (version: unknown, calls: number) => ({
      timestamp,
      [versionPath]: version,
      sum_call_count: calls,
      sum_error_count: 1,
      p95_latency_ms: 10 * calls,
    });
    const answer = {
      granularity: 100,
      call_buckets: [bucket(3, 5), bucket('3', 7), bucket('draft', 1), bucket(null, 9)],
      usage_buckets: [
        { timestamp, [versionPath]: 3, model: 'm', sum_total_cost: 1 },
        { timestamp, [versionPath]: 3, model: 'n', sum_total_cost: 2 },
      ],
    };
    const groups = toGroups(answer, versionPath);
    expect([...groups.keys()]).toEqual(['3', '"3"', 'draft']);
    expect(groups.get('3')).toMatchObject({ calls: 5, errors: 1, cost: 3, p95: 50 });
    const versions = [{ digest: 'abc', version_index: 3 }];
    expect(toVersionGroups([...groups.keys(), 'v3', 'abc'], versions).map(({ index }) => index)).toEqual([
      3,
      3,
      undefined,
      3,
      3,
    ]);
    expect(mergeFigures([...groups.values()].slice(0, 2))).toMatchObject({
      calls: 12,
      errors: 2,
      cost: 3,
      p95: undefined,
    });
    expect(mergeFigures([])).toBeUndefined();
  });

  it('have the means of scores', () => {
    const bucket = (version: string, feedback: unknown, sum_call_count: number) => ({
      timestamp,
      [versionPath]: version,
      feedback,
      sum_call_count,
    });
    const answer = {
      granularity: 3_153_600_000,
      call_buckets: [bucket('a', true, 3), bucket('a', false, 1), bucket('a', null, 6), bucket('b', null, 2)],
      usage_buckets: [],
    };
    const scores = toGroupScores(answer, versionPath, span, { type: 'thumbs', field: 'up' });
    expect([...scores.keys()]).toEqual(['a']);
    expect(scores.get('a')).toMatchObject({ kind: 'truth', count: 4, mean: 0.75 });
  });

  it('lead to their calls', () => {
    expect(callsOfPrompt('a/b', '12', '"3"')).toEqual({
      project: 'a/b',
      all: true,
      where: [
        { path: namePath, op: 'is', value: '"12"' },
        { path: versionPath, op: 'is', value: '"3"' },
      ],
    });
  });
});
