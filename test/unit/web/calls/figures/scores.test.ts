import { describe, expect, it } from 'vitest';
import {
  type FeedbackStats,
  needsSpread,
  resultText,
  scoreLines,
  scoresRequest,
  sourceText,
  spreadIn,
  spreadLines,
  toBins,
  toScoreOfCalls,
  toScores,
  valueText,
} from '../../../../../web/calls/figures/scores.ts';

const day = 86_400;
const at = (date: number) => `2026-10-0${date}T00:00:00.000000Z`;
const span = { start: Date.parse(at(1)), end: Date.parse(at(4)) };

const answer = (...buckets: object[]): FeedbackStats => ({
  start: at(1),
  end: at(4),
  granularity: day,
  timezone: 'UTC',
  buckets: buckets as FeedbackStats['buckets'],
  window_stats: {},
});

const truths = (date: number, yes: number, no: number) => ({
  timestamp: at(date),
  feedback_type: 'evaluation.polite',
  count: yes + no,
  count_value_truth: yes + no,
  distribution_value_truth: [
    [true, yes],
    [false, no],
  ],
  count_value_number: 0,
});

const numbers = (date: number, values: readonly (readonly [number | null, number])[], sum: number) => ({
  timestamp: at(date),
  feedback_type: 'score',
  count: 5,
  count_score_number: values.reduce((all, [, count]) => all + count, 0),
  sum_score_number: sum,
  min_score_number: 1,
  max_score_number: 5,
  p10_score_number: 1,
  p50_score_number: 3,
  p90_score_number: 5,
  distribution_score_number: values,
});

const labels = (date: number, ...values: readonly (readonly [string | null, number])[]) => ({
  timestamp: at(date),
  feedback_type: 'annotation.tone',
  count_value_label: values.reduce((all, [, count]) => all + count, 0),
  distribution_value_label: values,
});

const found = toScores(
  answer(
    truths(1, 3, 1),
    truths(3, 0, 2),
    numbers(1, [[1, 2]], 2),
    numbers(2, [[5, 1]], 5),
    labels(2, ['kind', 2], ['12', 1]),
    { timestamp: at(1), feedback_type: 'note', count: 4 },
    { timestamp: at(1), feedback_type: 'odd]type', count_value_truth: 9 },
  ),
  span,
);

describe('the scores of a project', () => {
  it('are asked for in one request, or for one type alone', () => {
    const all = scoresRequest('acme/shop', span, day);
    expect(all).toMatchObject({ group_by: ['feedback_type'], granularity: day });
    expect(all.metrics?.map(({ name }) => name)).toContain('up_truth');
    const one = scoresRequest('acme/shop', span, day, { type: 'score', field: 'score' });
    expect(one).toMatchObject({ feedback_type: 'score' });
    expect(one.metrics?.map(({ name }) => name)).toEqual(['score_truth', 'score_number', 'score_label']);
  });

  it('have the field and the kind that most of their values are, the most often given first', () => {
    expect(found.map(({ score, kind, count }) => [score.type, score.field, kind, count])).toEqual([
      ['evaluation.polite', 'value', 'truth', 6],
      ['score', 'score', 'number', 3],
      ['annotation.tone', 'value', 'label', 3],
    ]);
    expect(found.map(resultText)).toEqual(['50 % true', 'mean 2.33', '67 % kind']);
    expect(found.map(({ score }) => sourceText(score.type))).toEqual(['evaluator', 'feedback', 'annotation']);
  });

  it('have a point for each bucket of the time, without a value where nobody said anything', () => {
    const [polite, score, tone] = found.map((figures) => scoreLines(figures));
    expect(polite?.lines.map((line) => [line.label, line.values])).toEqual([['true', [0.75, null, 0]]]);
    expect(score?.lines.map((line) => [line.label, line.values])).toEqual([['mean', [1, 5, null]]]);
    expect(tone?.bars).toBe(true);
    expect(tone?.lines.map((line) => [line.label, line.values])).toEqual([
      ['kind', [0, 2, 0]],
      ['12', [0, 1, 0]],
    ]);
  });

  it('have distributions over time: percentiles, counts of true and false, shares of labels', () => {
    const [polite, score, tone] = found.map((figures) => spreadLines(figures));
    expect(polite?.lines.map((line) => line.values)).toEqual([
      [3, 0, 0],
      [1, 0, 2],
    ]);
    expect(score?.lines.map((line) => [line.label, line.values[1]])).toEqual([
      ['p10', 1],
      ['p50', 3],
      ['p90', 5],
    ]);
    expect(tone?.lines.map((line) => line.values)).toEqual([
      [null, 2 / 3, null],
      [null, 1 / 3, null],
    ]);
  });

  it('count the values that are not told apart as all others', () => {
    const many = Array.from({ length: 7 }, (_, i): [string, number] => [`label ${i}`, 7 - i]);
    const [tone] = toScores(answer(labels(1, ...many, [null, 4])), span);
    if (!tone) throw new Error('no score');
    expect(scoreLines(tone).lines.map(({ label, values }) => [label, values[0]])).toEqual([
      ['label 0', 7],
      ['label 1', 6],
      ['label 2', 5],
      ['label 3', 4],
      ['label 4', 3],
      ['all others', 7],
    ]);
    expect(toBins(tone).at(-1)).toEqual({ text: 'all others', count: 4 });
  });
});

describe('a distribution', () => {
  it('has each number, in order, if they are few, with what a filter calls it', () => {
    const [, score] = found;
    if (!score) throw new Error('no score');
    expect(toBins(score)).toEqual([
      { text: '1', count: 2, key: '1' },
      { text: '5', count: 1, key: '5' },
    ]);
  });

  it('has stretches of many numbers, each of which is counted once', () => {
    const all = Array.from({ length: 41 }, (_, i): [number, number] => [1 + i / 10, 1]);
    const [score] = toScores(answer(numbers(1, all, 123)), span);
    if (!score) throw new Error('no score');
    const bins = toBins(score);
    expect(bins).toHaveLength(10);
    expect(bins.map(({ text }) => text).slice(0, 2)).toEqual(['1 – 1.4', '1.4 – 1.8']);
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(41);
    expect(bins.at(-1)?.count).toBe(5);
    expect(needsSpread(score)).toBe(false);
  });

  it('is worked out from percentiles if the numbers are not told apart', () => {
    const [score] = toScores(answer(numbers(1, [[null, 1000]], 3000)), span);
    if (!score) throw new Error('no score');
    expect(needsSpread(score)).toBe(true);
    const stats = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`p${i * 5}`, 1 + i / 5]));
    const spread = spreadIn({ ...answer(), window_stats: { score: stats } });
    expect(spread).toHaveLength(21);
    for (const { count } of toBins(score, spread)) expect(count).toBeCloseTo(100, -1);
  });
});

describe('a score of calls', () => {
  const bucket = (date: number, feedback: unknown, count: number) => ({
    timestamp: at(date),
    feedback,
    sum_call_count: count,
  });
  const of = (...call_buckets: ReturnType<typeof bucket>[]) =>
    toScoreOfCalls({ call_buckets, granularity: day }, span, { type: 'thumbs', field: 'up' });

  it('leaves out those that have none', () => {
    expect(of(bucket(1, null, 5))).toBeUndefined();
    const figures = of(bucket(1, null, 5), bucket(1, true, 3), bucket(1, false, 1), bucket(2, false, 2));
    expect(figures).toMatchObject({ kind: 'truth', count: 6, mean: 0.5 });
    expect(figures?.points.map(({ mean }) => mean)).toEqual([0.75, 0, undefined]);
  });

  it('has the mean and the percentiles of numbers', () => {
    const figures = of(bucket(1, 1, 9), bucket(1, 11, 1), bucket(2, 4, 2));
    expect(figures).toMatchObject({ kind: 'number', count: 12, least: 1, most: 11 });
    expect(figures?.mean).toBeCloseTo(28 / 12);
    expect(figures?.points[0]?.percentiles).toEqual([1, 1, 1]);
    expect(figures?.points[1]?.mean).toBe(4);
  });

  it('tells texts from what they look like', () => {
    const figures = of(bucket(1, 'true', 1), bucket(1, 'fine', 2));
    expect(figures?.kind).toBe('label');
    expect([...(figures?.values ?? [])]).toEqual([
      ['fine', 2],
      ['"true"', 1],
    ]);
    expect([...(figures?.values.keys() ?? [])].map(valueText)).toEqual(['fine', 'true']);
  });
});
