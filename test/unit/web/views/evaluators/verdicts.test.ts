import { describe, expect, it } from 'vitest';
import type { CallFeedback } from '../../../../../web/api/contract.ts';
import { type Verdict, verdictsIn } from '../../../../../web/calls/evaluators.ts';
import {
  compareOpinions,
  toSeries,
  toTotals,
  totalsText,
} from '../../../../../web/views/evaluators/verdicts.ts';

const start = Date.parse('2026-10-01T00:00:00Z');
const hourMs = 3_600_000;

const verdict = (value: Verdict['value'], fields: Partial<Verdict> = {}): Verdict => ({
  id: 'v',
  call: 'c',
  at: start,
  value,
  reason: undefined,
  error: undefined,
  judge: undefined,
  ...fields,
});

describe('records of feedback', () => {
  it('are verdicts of the object whose versions gave them', () => {
    const row = (fields: object) => ({
      id: 'v',
      svc_ref: 'svc:///a/b/call/c',
      created_at: '2026-10-01T00:00:00Z',
      payload: { value: false, reason: 'rude' },
      runnable_ref: 'svc:///a/b/object/polite:d',
      call_ref: 'svc:///a/b/call/j',
      ...fields,
    });
    const rows = [
      row({}),
      row({ id: 'w', payload: { value: null, error: 'busy' }, call_ref: null }),
      row({ runnable_ref: 'svc:///a/b/object/impolite:d' }),
      row({ runnable_ref: null }),
    ];
    expect(verdictsIn(rows, 'polite')).toEqual([
      verdict(false, { reason: 'rude', judge: 'j' }),
      verdict(null, { id: 'w', error: 'busy' }),
    ]);
  });
});

describe('what verdicts come to', () => {
  const span = { start, end: start + 2 * hourMs };
  const bucket = (hour: number, fields: object) => ({
    timestamp: new Date(start + hour * hourMs).toISOString(),
    ...fields,
  });

  it('is shares of true, with what could not be judged apart', () => {
    const answer = {
      granularity: 3600,
      buckets: [
        bucket(0, { count: 4, count_true_value: 3, count_false_value: 1 }),
        bucket(1, { count: 2, count_error: 2 }),
      ],
      window_stats: { value: { count_true: 3, count_false: 1 }, error: { count: 2 } },
    };
    const totals = toTotals(answer, 'boolean', []);
    const values = [
      ['true', 3],
      ['false', 1],
    ];
    expect(totals).toMatchObject({ count: 6, failures: 2, values });
    expect(totalsText(totals)).toBe('75 % true');
    const series = toSeries(answer, span, 'boolean', []);
    expect([...series.counts, ...series.values].map(({ values }) => values)).toEqual([
      [4, 2],
      [0, 2],
      [0.75, null],
    ]);
  });

  it('is means of numbers, and shares of labels among the latest', () => {
    const answer = {
      granularity: 3600,
      buckets: [bucket(0, { count: 2, avg_value: 3.5 })],
      window_stats: { value: { avg: 3.5, min: 3, max: 4 } },
    };
    expect(totalsText(toTotals(answer, 'number', []))).toBe('mean 3.5');
    expect(toSeries(answer, span, 'number', []).values[0]?.values).toEqual([3.5, null]);
    const latest = [verdict('good'), verdict('good'), verdict('bad'), verdict(null)];
    expect(totalsText(toTotals({ ...answer, window_stats: {} }, 'label', latest))).toBe('67 % good');
    expect(toSeries(answer, span, 'label', latest).values).toMatchObject([
      { label: 'good', values: [2 / 3, null] },
      { label: 'bad', values: [1 / 3, null] },
    ]);
  });
});

describe('what people say', () => {
  const record = (feedback_type: string, payload: object): CallFeedback => ({
    id: 'f',
    feedback_type,
    payload: payload as CallFeedback['payload'],
    created_at: '',
    svc_ref: 'svc:///a/b/call/c',
    creator: null,
    svc_user_id: 'ada',
  });
  const same = (value: Verdict['value'], feedback: CallFeedback, inverted = false, maximum = 1) =>
    compareOpinions([verdict(value)], () => [feedback], { minimum: 0, maximum, inverted })[0]?.agrees;

  it('is compared with verdicts of its kind, and with no others', () => {
    const up = record('thumbs', { up: true });
    const down = record('thumbs', { up: false });
    expect([same(true, up), same(true, down), same(false, down)]).toEqual([true, false, true]);
    expect([same(true, up, true), same(0.9, up), same(1, down)]).toEqual([false, true, false]);
    expect(same(true, record('reaction', { emoji: '👎' }))).toBe(false);
    expect(same(4, record('score', { score: 0.8 }), false, 5)).toBe(true);
    expect(same(true, record('annotation.polite', { value: false }))).toBe(false);
    expect(same(3, record('wandb.annotation.stars', { value: 4 }), false, 5)).toBe(true);
    expect(same('good', record('annotation.quality', { value: 'Good' }))).toBe(true);
    const incomparable = [
      same('good', up),
      same(null, up),
      same(true, record('note', { note: 'yes' })),
      same(true, record('evaluation.other', { value: false })),
      same(true, record('annotation.quality', { value: 'good' })),
    ];
    expect(incomparable).toEqual(Array(5).fill(undefined));
  });
});
