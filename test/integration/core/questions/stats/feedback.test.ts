import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { getBodySchema } from '../../../../../api/endpoint.ts';
import { feedbackStats } from '../../../../../api/feedback-stats.ts';
import { computeFeedbackStats, findPayloadPaths } from '../../../../../core/questions/stats/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import { parseTime } from '../../../../../foundations/wire/index.ts';
import { parseBody } from '../../../../../foundations/wire/schema.ts';
import { project } from '../../../../support/values/calls.ts';
import {
  callRef,
  createAll,
  createFeedbackStore,
  makeFeedback,
  noise,
  replace,
} from '../../../../support/values/feedback.ts';

const day = (n: number) => `2026-10-0${n}T00:00:00.000000Z`;
const trigger = (version: string) => `svc:///${project}/object/watch:${version}`;

const other = 'acme/long';
/** With its quotes, it has 1,024 characters of JSON. */
const longest = 'x'.repeat(1022);

let store: Store;
beforeAll(async () => {
  store = await createFeedbackStore();
  vi.useFakeTimers({ toFake: ['Date'] });
  const onDay = async (n: number, ...batch: object[]): Promise<void> => {
    vi.setSystemTime(Date.parse(day(n)) + 3_600_000);
    await createAll(store, batch.map(makeFeedback));
  };
  const score = (value: unknown, more: object = {}) => ({
    feedback_type: 'score',
    payload: { value, 'output.why': { text: 'ok' } },
    ...more,
  });
  await onDay(1, score(1), score(4), score('4'), score(true), { payload: { text: 'no score' } });
  await onDay(2, score(2.5, { id: 'old' }), score(7, { payload: { value: 7, ...noise(9000) } }));
  await replace(store, 'old', { id: 'new', feedback_type: 'score', payload: { value: 3 } });
  await onDay(3, score(true, { trigger_ref: trigger('v1') }), score(false, { trigger_ref: trigger('v2') }));
  await onDay(3, score(true, { trigger_ref: trigger('v2') }), score(9, { project_id: 'acme/lab' }));
  const texts = [longest, `${longest}y`, `${longest}z`];
  await onDay(3, ...texts.map((value) => score(value, { project_id: other, svc_ref: callRef('c', other) })));
  vi.useRealTimers();
});
afterAll(() => vi.useRealTimers());

const stats = async (body: object = {}, units = requestBudget(60_000)) => {
  const span = { start: day(1), end: day(4), granularity: 86_400, feedback_type: 'score' };
  const text = JSON.stringify({ project_id: project, ...span, ...body });
  return computeFeedbackStats(store, parseBody(getBodySchema(feedbackStats), text), units).answer();
};

describe('statistics of feedback', () => {
  it('say what numbers there were in each bucket, and in all', async () => {
    const metrics = [{ json_path: 'value', aggregations: ['sum', 'avg', 'count'], percentiles: [50] }];
    const { buckets, window_stats } = await stats({ metrics });
    expect(buckets).toEqual(
      [
        { timestamp: day(1), count: 4, sum_value: 5, avg_value: 2.5, count_value: 2, p50_value: 2.5 },
        { timestamp: day(2), count: 2, sum_value: 10, avg_value: 5, count_value: 2, p50_value: 5 },
        { timestamp: day(3), count: 3, sum_value: 0, avg_value: null, count_value: 0, p50_value: null },
      ].map((bucket) => ({ ...bucket, p50_value: bucket.p50_value && expect.closeTo(bucket.p50_value, 0) })),
    );
    expect(window_stats).toEqual({ value: { sum: 15, avg: 15 / 4, count: 4, p50: expect.closeTo(3.5, 0) } });
  });

  it('say how many have each value, the most common first', async () => {
    const metrics = [
      { json_path: 'value', value_type: 'boolean', distribution: true },
      { json_path: 'output.why.text', value_type: 'categorical', distribution: true },
    ];
    const { buckets } = await stats({ metrics });
    expect(buckets.map((bucket) => [bucket.distribution_value, bucket.distribution_output_why_text])).toEqual(
      [
        [[[true, 1]], [['ok', 4]]],
        [[], []],
        [
          [
            [true, 2],
            [false, 1],
          ],
          [['ok', 3]],
        ],
      ],
    );
    const numbers = await stats({
      metrics: [{ json_path: 'value', distribution: true }],
      granularity: 604_800,
    });
    expect(new Map(numbers.buckets[0]?.distribution_value as [number, number][])).toEqual(
      new Map([
        [1, 1],
        [4, 1],
        [3, 1],
        [7, 1],
      ]),
    );
  });

  it('tell types of feedback apart, each with the values that are its most common', async () => {
    const metrics = [
      { json_path: 'value', name: 'number', aggregations: ['sum', 'count'] },
      { json_path: 'value', name: 'truth', value_type: 'boolean', distribution: true },
    ];
    const asked = { feedback_type: null, granularity: 604_800, metrics };
    const { buckets, window_stats } = await stats({ ...asked, group_by: ['feedback_type'] });
    const timestamp = buckets[0]?.timestamp;
    const scored = { timestamp, feedback_type: 'score', count: 9, sum_number: 15, count_number: 4 };
    expect(buckets.find(({ feedback_type }) => feedback_type === 'score')).toEqual({
      ...scored,
      count_true_truth: 3,
      count_false_truth: 1,
      distribution_truth: [
        [true, 3],
        [false, 1],
      ],
    });
    expect(buckets.map(({ count }) => count)).toEqual([9, 1]);
    expect(window_stats.number).toEqual({ sum: 15, count: 4 });
    const { buckets: ungrouped } = await stats(asked);
    expect(ungrouped.map(({ feedback_type, count }) => [feedback_type, count])).toEqual([[undefined, 10]]);
  });

  it('count texts that are too long to tell apart under null', async () => {
    const metrics = [{ json_path: 'value', value_type: 'categorical', distribution: true }];
    const { buckets } = await stats({ project_id: other, metrics });
    expect(buckets.map(({ count_value, distribution_value }) => [count_value, distribution_value])).toEqual([
      [
        3,
        [
          [null, 2],
          [longest, 1],
        ],
      ],
    ]);
  });

  it('count what is true, and texts; without aggregations they make what suits the values', async () => {
    const metrics = [
      { json_path: 'value', value_type: 'boolean' },
      { json_path: 'output.why.text', value_type: 'categorical' },
      { json_path: 'nothing' },
    ];
    const { window_stats } = await stats({ metrics });
    expect(window_stats).toEqual({
      value: { count_true: 3, count_false: 1 },
      output_why_text: { count: 7 },
      nothing: { avg: null, min: null, max: null },
    });
  });

  it('are of one type, of what one version or all versions have triggered, and of a time', async () => {
    const counts = async (body: object) => (await stats(body)).buckets.map(({ count }) => count);
    expect(await counts({})).toEqual([4, 2, 3]);
    expect(await counts({ feedback_type: null })).toEqual([5, 2, 3]);
    expect(await counts({ feedback_type: 'none' })).toEqual([]);
    expect(await counts({ trigger_ref: trigger('v2') })).toEqual([2]);
    expect(await counts({ trigger_ref: trigger('*') })).toEqual([3]);
    expect(await counts({ start: '2026-10-01T01:30:00Z', end: day(3) })).toEqual([2]);
  });

  it('read no payloads to count records', async () => {
    const counted = requestBudget(60_000);
    const looked = requestBudget(60_000);
    await stats({}, counted);
    await stats({ metrics: [{ json_path: 'value' }] }, looked);
    expect(counted.meter.requests).toBeLessThan(looked.meter.requests);
  });

  it('refuse what cannot be made of values, and two metrics of one name', async () => {
    const refused = (...metrics: object[]) => expect(stats({ metrics })).rejects;
    await refused({ json_path: 'value', aggregations: ['count_true'] }).toThrow(
      'count_true is not made of numeric',
    );
    await refused({ json_path: 'a.b' }, { json_path: 'a b' }).toThrow('is called a_b in the answer, too');
  });
});

describe('the paths of payloads', () => {
  const paths = async (latest = 100) => {
    const span = {
      projectId: project,
      start: parseTime(day(1)) ?? 0,
      end: parseTime(day(4)) ?? 0,
    };
    const all = { ...span, feedbackType: null, triggerRef: null };
    const found = await findPayloadPaths(store, all, latest, requestBudget(60_000)).answer();
    return found.map(({ json_path, value_type }) => `${json_path}: ${value_type}`);
  };

  it('have the type that all of their values have', async () => {
    expect(await paths()).toEqual([
      'noise: categorical',
      'output.why.text: categorical',
      'text: categorical',
      'value: categorical',
    ]);
  });

  it('are those of the latest records', async () => {
    expect(await paths(3)).toEqual(['output.why.text: categorical', 'value: boolean']);
  });
});
