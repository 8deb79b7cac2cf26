import * as z from 'zod/mini';
import { optionalQuery } from '../../core/foundations/expression/index.ts';
import { parseTime, type WireNames } from '../../core/foundations/wire/index.ts';
import {
  count,
  documented,
  id,
  integerWith,
  nullish,
  numeric,
  projectId,
  rule,
  time,
} from '../../core/foundations/wire/schema.ts';
import { callKind } from '../../core/questions/query/fields.ts';
import { everyCall, noIncludes } from '../../core/questions/query/request.ts';
import {
  bucketEdges,
  defaultGranularity,
  isGranularity,
  isTimezone,
  maxBuckets,
} from '../../core/questions/stats/buckets.ts';
import {
  type Asked,
  aggregations,
  type CallMetric,
  callMetrics,
  type GroupField,
  groupFields,
  type StatsRequest,
  type UsageMetric,
  usageMetrics,
} from '../../core/questions/stats/request.ts';
import type { TraceUsageRequest, UsageRequest } from '../../core/questions/stats/usage.ts';
import { filterSchema } from './query.ts';

/** The most calls of one request for usage. */
const maxCalls = 1000;
const ids = z.array(id).check(z.maxLength(maxCalls, `should be at most ${maxCalls} ids`));

/** The body of `/calls/usage`. */
export const callsUsageBody: z.ZodMiniType<UsageRequest> = z.pipe(
  z.strictObject({
    project_id: projectId,
    call_ids: ids,
    trace_ids: nullish(ids),
    include_costs: nullish(z.boolean()),
  }),
  z.transform((body) => ({
    projectId: body.project_id,
    callIds: [...new Set(body.call_ids)],
    traceIds: [...new Set(body.trace_ids ?? [])],
    withCosts: body.include_costs ?? false,
  })),
);

/** The most calls whose usage is answered at once. */
const maxTraceCalls = 10_000;

/** The body of `/trace/usage`: which calls to sum up, by a filter and a query. */
export const traceUsageBody = (names: WireNames): z.ZodMiniType<TraceUsageRequest> =>
  z.pipe(
    z.strictObject({
      project_id: projectId,
      filter: nullish(filterSchema(names)),
      query: optionalQuery(callKind(names, noIncludes)),
      limit: nullish(count),
      include_costs: nullish(z.boolean()),
    }),
    z.transform(
      (body): TraceUsageRequest => ({
        selection: {
          projectId: body.project_id,
          filter: body.filter ?? everyCall,
          where: body.query ?? null,
          limit: Math.min(body.limit ?? maxTraceCalls, maxTraceCalls),
          includes: noIncludes,
        },
        withCosts: body.include_costs ?? false,
      }),
    ),
  );

const maxMetrics = 20;
const maxPercentiles = 20;

const percentile = numeric(z.number().check(z.minimum(0), z.maximum(100)));

const metricSchema = <M extends CallMetric | UsageMetric>(metrics: readonly [M, ...M[]], name: string) =>
  z
    .pipe(
      z.strictObject({
        metric: z.enum(metrics),
        aggregations: nullish(z.array(z.enum(aggregations))),
        percentiles: nullish(
          z
            .array(percentile)
            .check(z.maxLength(maxPercentiles, `should be at most ${maxPercentiles} numbers`)),
        ),
      }),
      z.transform(({ metric, aggregations: asked, percentiles }): Asked<M> => {
        const wanted = [...new Set(percentiles ?? [])];
        // What is asked for without saying how is summed up.
        const made = asked ?? (wanted.length > 0 ? [] : (['sum'] as const));
        return { metric: metric as M, aggregations: [...new Set(made)], percentiles: wanted };
      }),
    )
    .register(documented, { name });

const metricsSchema = <M extends CallMetric | UsageMetric>(metrics: readonly [M, ...M[]], name: string) =>
  nullish(
    z
      .array(metricSchema(metrics, name))
      .check(z.maxLength(maxMetrics, `should be at most ${maxMetrics} metrics`)),
  );

const granularity = integerWith(
  z.minimum(1),
  z.refine(
    isGranularity,
    rule('should be seconds: less than 86400, or whole days such as 86400 or 604800 for a week'),
  ),
);

const timezone = z
  .string()
  .check(z.refine(isTimezone, rule('should be the IANA name of a time zone, such as UTC or Europe/Berlin')));

const groupSchema = (names: WireNames) => {
  const named = groupFields.map((field) => (field === 'user' ? names.userId : field));
  return z.pipe(
    z.array(z.enum(named as [string, ...string[]])).check(
      z.maxLength(2, 'should be at most 2 fields'),
      z.refine((fields) => new Set(fields).size === fields.length, rule('should name each field once')),
    ),
    z.transform((fields) => fields.map((field) => groupFields[named.indexOf(field)] as GroupField)),
  );
};

const withDefaults = (body: {
  start: string;
  end?: string | null | undefined;
  granularity?: number | null | undefined;
  timezone?: string | null | undefined;
}) => {
  const start = parseTime(body.start) ?? 0;
  const end = body.end ? (parseTime(body.end) ?? 0) : Date.now() * 1000;
  return {
    ...{ start, end, timezone: body.timezone ?? 'UTC' },
    granularity: body.granularity ?? (end > start ? defaultGranularity(start, end) : 1),
  };
};

/** The body of `/calls/stats`. */
export const callsStatsBody = (names: WireNames): z.ZodMiniType<StatsRequest> =>
  z.pipe(
    z.strictObject({
      project_id: projectId,
      start: time,
      end: nullish(time),
      granularity: nullish(granularity),
      timezone: nullish(timezone),
      filter: nullish(filterSchema(names)),
      query: optionalQuery(callKind(names, noIncludes)),
      call_metrics: metricsSchema([...callMetrics], 'CallMetric'),
      usage_metrics: metricsSchema([...usageMetrics], 'UsageMetric'),
      group_by: nullish(groupSchema(names)),
    }),
    z.transform((body, context): StatsRequest => {
      const span = withDefaults(body);
      const refuse = (field: string, message: string): never => {
        context.issues.push({
          code: 'custom',
          path: [field],
          input: body,
          message,
          params: { type: 'value_error' },
        });
        return z.NEVER;
      };
      if (span.start >= span.end)
        return body.end
          ? refuse('end', 'should be later than start')
          : refuse('start', 'should be earlier than now, where the buckets end without an end');
      const edges = bucketEdges(span.start, span.end, span.granularity, span.timezone);
      if (edges.length - 1 > maxBuckets) {
        const least = defaultGranularity(span.start, span.end);
        return refuse(
          'granularity',
          `makes more than ${maxBuckets} buckets: write more seconds, such as ${least}`,
        );
      }
      return {
        projectId: body.project_id,
        ...span,
        filter: body.filter ?? everyCall,
        where: body.query ?? null,
        calls: body.call_metrics ?? [],
        usage: body.usage_metrics ?? [],
        groupBy: body.group_by ?? [],
      };
    }),
  );
