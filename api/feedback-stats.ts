import * as z from 'zod/mini';
import { documented, field, nullish, problem, record, withDefault } from '../foundations/wire/schema.ts';
import { endpoint, longAnswer } from './endpoint.ts';
import { flag, project, timestamp } from './fields.ts';
import {
  aggregations,
  bucket,
  checkBuckets,
  listOfMetrics,
  percentilesField,
  spanFields,
  toSpan,
} from './stats.ts';

/** What values of payloads count as. */
export const feedbackValueTypes = ['numeric', 'boolean', 'categorical'] as const;
export type FeedbackValueType = (typeof feedbackValueTypes)[number];

const feedbackAggregations = [...aggregations, 'count_true', 'count_false'] as const;
export type FeedbackAggregation = (typeof feedbackAggregations)[number];

/** What can be made of values of a type, and what is made of them if nothing is asked for. */
const ofType: Readonly<
  Record<FeedbackValueType, Readonly<Record<'possible' | 'usual', readonly FeedbackAggregation[]>>>
> = {
  numeric: { possible: aggregations, usual: ['avg', 'min', 'max'] },
  boolean: { possible: feedbackAggregations, usual: ['count_true', 'count_false'] },
  categorical: { possible: ['count'], usual: ['count'] },
};

const maxPath = 1024;

const feedbackMetric = () =>
  record(
    {
      json_path: field(
        z.string().check(z.minLength(1), z.maxLength(maxPath)),
        'A dotted path into payloads: `value`, `output.score`.',
      ),
      name: field(
        nullish(z.string().check(z.minLength(1), z.maxLength(maxPath))),
        'What it is called in the answer, with `_` in place of all but letters and digits; its path without it.',
      ),
      value_type: field(
        withDefault(z.enum(feedbackValueTypes), 'numeric' as const),
        'What counts of the values there: numbers, without this; true and false, as 1 and 0; or texts.',
      ),
      aggregations: field(
        nullish(z.array(z.enum(feedbackAggregations))),
        'What is made of the values. Without this and `percentiles`: `avg`, `min` and `max` of numbers, `count_true` and `count_false`, or the `count` of texts.',
      ),
      percentiles: percentilesField(),
      distribution: flag(
        'Adds `distribution_<metric>` to buckets: how many records have each value, as `[value, count]`, the most common first. The 100 most common values of the whole time, of a group if there are groups, are told apart; others, and those with more than 1,024 characters of JSON, are under null.',
      ),
    },
    {},
    ({
      value_type: type,
      json_path: path,
      name,
      aggregations: requestedAggregations,
      percentiles: requestedPercentiles,
    }) => {
      const percentiles = type === 'numeric' ? [...new Set(requestedPercentiles)] : [];
      const aggregations =
        requestedAggregations?.length || percentiles.length > 0
          ? (requestedAggregations ?? [])
          : ofType[type].usual;
      return {
        path: path.split('.'),
        slug: (name ?? path).replace(/[^A-Za-z0-9]/g, '_'),
        percentiles,
        aggregations: [...new Set(aggregations)],
      };
    },
    z.check(({ value, issues }) => {
      const { possible } = ofType[value.value_type];
      const wrong = value.aggregations?.find((aggregation) => !possible.includes(aggregation));
      if (wrong === undefined) return;
      const message = `${wrong} is not made of ${value.value_type} values: use ${possible.join(', ')}`;
      issues.push(problem(message, value, 'aggregations'));
    }),
  ).register(documented, { name: 'FeedbackMetric' });

/** What is to be made of the values at a path. `slug` is its name in the answer. */
export type FeedbackMetric = z.output<ReturnType<typeof feedbackMetric>>;

const eachSlugOnce = z.check<{ readonly metrics: readonly FeedbackMetric[] }>(({ value, issues }) => {
  const seen = new Set<string>();
  for (const [i, { slug }] of value.metrics.entries()) {
    if (seen.has(slug)) {
      const message = `an earlier metric is called ${slug} in the answer, too: give it a \`name\` of its own`;
      issues.push(problem(message, value, 'metrics', i, 'json_path'));
    }
    seen.add(slug);
  }
});

/** What feedback is grouped by. */
const feedbackGroups = ['feedback_type'] as const;

/** Which feedback of a span of time is looked at. */
export const ofFeedback = () => ({
  feedback_type: field(nullish(z.string()), 'Feedback of this type; of any without it.'),
  trigger_ref: field(
    nullish(z.string()),
    'Feedback with this `trigger_ref`; with a `:*` at its end, of any version. Any without it.',
  ),
});

const feedbackStatsBody = () =>
  record(
    {
      project_id: project,
      ...spanFields(),
      ...ofFeedback(),
      metrics: listOfMetrics(
        feedbackMetric(),
        'What is made of payloads; records are only counted without it.',
      ),
      group_by: field(
        nullish(z.array(z.enum(feedbackGroups)).check(z.maxLength(feedbackGroups.length))),
        'With `feedback_type`, there is a bucket for each type of feedback. The 1,000 largest types are returned, the rest are under null.',
      ),
    },
    {},
    ({ start, end, granularity, group_by }) => ({
      ...toSpan({ start, end, granularity }),
      groupBy: group_by?.[0] ?? null,
    }),
    checkBuckets,
    eachSlugOnce,
  );

/** A request for statistics of feedback. Its start is inclusive, its end exclusive. */
export type FeedbackStatsRequest = z.output<ReturnType<typeof feedbackStatsBody>>;

export const feedbackStats = /* @__PURE__ */ endpoint({
  path: '/feedback/stats',
  shape: longAnswer,
  stores: { feedback: 'count' },
  tag: 'feedback',
  name: 'FeedbackStats',
  summary: 'Count feedback over time',
  description:
    'What the payloads of feedback say, in buckets of time: sums, means, extremes and percentiles of numbers, and how often something is true. A record is in the bucket of its `created_at`. Percentiles are within 1 % of the exact value, all else is exact. Buckets without feedback are left out. A metric is called by its path, with `_` in place of all but letters and digits. The request reads all of the feedback that it is about.',
  request: feedbackStatsBody,
  answer: () =>
    z.object({
      start: field(timestamp, 'The beginning, inclusive.'),
      end: field(timestamp, 'The end, exclusive.'),
      granularity: field(z.int(), 'Seconds of a bucket.'),
      timezone: field(z.string(), 'The zone whose midnights buckets are aligned to.'),
      buckets: field(z.array(bucket()), 'By time and group: `count` records, and `<aggregation>_<metric>`.'),
      window_stats: field(
        z.record(z.string(), z.record(z.string(), z.nullable(z.number()))),
        'Of all buckets together: by metric, then by aggregation.',
      ),
    }),
  examples: {
    scores: {
      summary: 'Scores by the week',
      body: {
        project_id: 'acme/shop',
        start: '2026-10-01T00:00:00Z',
        granularity: 604_800,
        feedback_type: 'score',
        metrics: [{ json_path: 'score', aggregations: ['avg'] }],
      },
      answer: {
        start: '2026-10-01T00:00:00.000000Z',
        end: '2026-10-08T00:00:00.000000Z',
        granularity: 604_800,
        timezone: 'UTC',
        buckets: [{ timestamp: '2026-09-28T00:00:00.000000Z', count: 1, avg_score: 1 }],
        window_stats: { score: { avg: 1 } },
      },
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const feedbackStatsRoutes = [feedbackStats] as const;
