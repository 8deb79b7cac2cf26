import * as z from 'zod/mini';
import { optionalQuery, pathSchema } from '../foundations/expression/index.ts';
import {
  bucketEdges,
  defaultGranularity,
  isGranularity,
  isTimezone,
  maxBuckets,
} from '../foundations/wire/buckets.ts';
import {
  documented,
  field,
  id,
  integerWith,
  nullish,
  numeric,
  problem,
  record,
  rule,
  withDefault,
} from '../foundations/wire/schema.ts';
import { endpoint, longAnswer, oneAnswer } from './endpoint.ts';
import { flag, micros, project, queryText, timestamp } from './fields.ts';
import { callKind, filter, maxTotalsIds, noIncludes, partCosts } from './queries.ts';
import { type HeaderAttribute, headerAttributes } from './shared/header-fields.ts';

/** What is counted of calls, in statistics and by alerts. */
export const callMetrics = ['call_count', 'error_count', 'latency_ms'] as const;

/** What statistics count of calls: also how many traces they are of, and how long they waited for people. */
export const statsCallMetrics = [...callMetrics, 'trace_count', 'waited_ms'] as const;
export type CallMetric = (typeof statsCallMetrics)[number];

/** What is counted of the usage of a model. */
export const tokenMetrics = [
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'reasoning_tokens',
] as const;
export type TokenMetric = (typeof tokenMetrics)[number];

/**
 * What usage costs, at the prices in force when its call started. Cached tokens are part of the input,
 * reasoning is part of the output.
 */
export const costMetrics = [
  'input_cost',
  'output_cost',
  'total_cost',
  'cache_read_input_cost',
  'cache_creation_input_cost',
  'reasoning_cost',
] as const;
export type CostMetric = (typeof costMetrics)[number];

/**
 * What is counted of the calls themselves that used a model. A call that failed and has no usage
 * counts here for the model that its inputs name.
 */
const modelCallMetrics = ['error_count', 'latency_ms'] as const;
export type ModelCallMetric = (typeof modelCallMetrics)[number];

export const usageMetrics = [...tokenMetrics, ...costMetrics, ...modelCallMetrics] as const;
export type UsageMetric = TokenMetric | CostMetric | ModelCallMetric;

export const isCostMetric = (metric: UsageMetric): metric is CostMetric =>
  costMetrics.some((costMetric) => costMetric === metric);

export const isModelCallMetric = (metric: UsageMetric): metric is ModelCallMetric =>
  modelCallMetrics.some((callMetric) => callMetric === metric);

/** What is made of the values of a metric. */
export const aggregations = ['sum', 'avg', 'min', 'max', 'count'] as const;
export type Aggregation = (typeof aggregations)[number];

const maxPercentiles = 20;
const percentile = numeric(z.number().check(z.minimum(0), z.maximum(100)));

/** Percentiles of a metric; none without them. */
export const percentilesField = () =>
  field(
    nullish(
      z.array(percentile).check(z.maxLength(maxPercentiles, `should be at most ${maxPercentiles} numbers`)),
    ),
    'Percentiles of it, from 0 to 100.',
  );

const metric = <M extends CallMetric | UsageMetric>(metrics: readonly [M, ...M[]], name: string) =>
  record(
    {
      metric: field(z.enum(metrics), 'What is counted.'),
      aggregations: field(
        nullish(z.array(z.enum(aggregations))),
        'What is made of it; its sum without this and `percentiles`.',
      ),
      percentiles: percentilesField(),
    },
    {},
    ({ metric, aggregations: requestedAggregations, percentiles }) => {
      // What is asked for without saying how is summed up.
      const aggregations = requestedAggregations ?? (percentiles?.length ? [] : (['sum'] as const));
      return {
        metric: metric as M,
        aggregations: [...new Set<Aggregation>(aggregations)] as readonly Aggregation[],
        percentiles: [...new Set(percentiles)] as readonly number[],
      };
    },
  ).register(documented, { name });

/** A metric, and what is to be made of it. Percentiles are from 0 to 100. */
export type Asked<M extends CallMetric | UsageMetric> = z.output<ReturnType<typeof metric<M>>>;

const maxMetrics = 20;

/** A list of metrics; none without it. */
export const listOfMetrics = <S extends z.ZodMiniType>(metric: S, description: string) => {
  const list = z.array(metric).check(z.maxLength(maxMetrics, `should be at most ${maxMetrics} metrics`));
  return field(withDefault(list, []), description);
};

const metricList = <M extends CallMetric | UsageMetric>(
  metrics: readonly [M, ...M[]],
  name: string,
  description: string,
) => listOfMetrics(metric(metrics, name), description);

/** Seconds of a bucket. */
export const granularity = integerWith(
  z.minimum(1),
  z.refine(
    isGranularity,
    rule('should be seconds: less than 86400, or whole days such as 86400 or 604800 for a week'),
  ),
);

const timezone = z
  .string()
  .check(z.refine(isTimezone, rule('should be the IANA name of a time zone, such as UTC or Europe/Berlin')));

const attributeFields = headerAttributes.map((name) => `attributes.${name}` as const);

/** What calls are grouped by under a name of its own, rather than by a path. */
export type NamedGroup =
  | ('op_name' | 'user' | 'status' | 'thread_id' | 'display_name' | 'source' | 'agent' | 'tool')
  | `attributes.${HeaderAttribute}`;

/** What calls can be grouped by: a {@link NamedGroup}, or a dotted path. */
export type GroupField = NamedGroup | (string & {});

/** The names that are no fields of calls. */
const groupNames = ['agent', 'tool', 'status', 'source'];

/** Fields to group by, and dotted paths into them. */
const groupPath = () => {
  const { fields, ...kind } = callKind(noIncludes);
  const known = fields.filter((name) => name !== 'preview');
  return pathSchema({ ...kind, name: 'GroupedCall', fields: [...groupNames, ...known] });
};

/** The longest range whose payloads are read to group calls by what is in them, in days. */
export const maxPayloadDays = 31;

/** The fields to group by. */
export const groupBy = () =>
  field(
    withDefault(
      z.pipe(
        z
          .array(groupPath())
          .check(
            z.maxLength(2, 'should be at most 2 fields'),
            z.refine((fields) => new Set(fields).size === fields.length, rule('should name each field once')),
          )
          .register(documented, { keywords: { uniqueItems: true } }),
        z.transform((fields): GroupField[] => fields.map((name) => (name === 'svc_user_id' ? 'user' : name))),
      ),
      [],
    ),
    `At most two: \`agent\`, the name of the nearest agent at or above the call in its trace, null outside of agents; \`tool\`, the name of the tool that was called, which leaves out calls of no tool; \`status\`; \`source\`, who made the calls: \`production\` unless they say otherwise; or a field or dotted path. ${attributeFields.join(', ')} and fields beside the payload are in headers. Other paths into \`attributes\`, \`inputs\`, \`output\`, \`exception\` and \`summary\` have the payloads of the calls read, of at most ${maxPayloadDays} days or ${maxTotalsIds} \`call_ids\` or \`trace_ids\`; \`price\` says of how many. The 1,000 largest groups are returned, the rest are under null. Values keep their type; those with more than 1,024 characters of JSON are under null.`,
  );

const feedbackGroup = () =>
  record({
    feedback_type: field(z.string().check(z.minLength(1), z.maxLength(1024)), 'The type of the feedback.'),
    path: field(
      withDefault(z.string().check(z.minLength(1), z.maxLength(1024)), 'value'),
      'A dotted path into its payload; `value` without it.',
    ),
  }).register(documented, { name: 'FeedbackGroup' });

/** Scores by which calls are grouped, beside the fields. */
export const groupByFeedback = () =>
  field(
    nullish(feedbackGroup()),
    'Groups by a score, too: by what the latest feedback of a type on each call has at a path. The field of the answer is `feedback`; null stands for calls without one.',
  );

export const callMetricsField = () =>
  metricList(
    statsCallMetrics,
    'CallMetric',
    'What is counted of calls; nothing without it. `trace_count` is how many traces they are of, `waited_ms` how long calls waited for a person, of those that did.',
  );

export const usageMetricsField = () =>
  metricList(
    usageMetrics,
    'UsageMetric',
    'What is counted of the usage of each model, and of the calls that used it; nothing without it.',
  );

const granularityField = field(
  nullish(granularity),
  'Seconds of a bucket: less than a day, or whole days. Without it there are about 60 to 200 buckets.',
);

export const timezoneField = field(
  withDefault(timezone, 'UTC'),
  'The IANA name of the zone whose midnights buckets are aligned to; `UTC` without it.',
);

/** Which time is looked at, in which buckets. */
export const spanFields = () => ({
  start: field(micros, 'When the first bucket may begin, inclusive.'),
  end: field(nullish(micros), 'When the last bucket ends, exclusive; now without it.'),
  granularity: granularityField,
  timezone: timezoneField,
});

type SpanFields = z.output<z.ZodMiniObject<ReturnType<typeof spanFields>>>;

const statsFields = () => ({
  project_id: project,
  ...spanFields(),
  filter: filter(),
  query: field(optionalQuery(callKind(noIncludes)), queryText),
  call_metrics: callMetricsField(),
  usage_metrics: usageMetricsField(),
  group_by: groupBy(),
  group_by_feedback: groupByFeedback(),
});

/** The end and the granularity that a request means. */
export const toSpan = ({ start, end: until, granularity }: Omit<SpanFields, 'timezone'>) => {
  const end = until ?? Date.now() * 1000;
  return { end, granularity: granularity ?? (end > start ? defaultGranularity(start, end) : 1) };
};

/** What is wrong with the buckets of a request, and at which of its fields. */
const bucketProblem = (body: SpanFields): [field: string, message: string] | undefined => {
  const { start, timezone } = body;
  const { end, granularity } = toSpan(body);
  if (start >= end)
    return body.end
      ? ['end', 'should be later than start']
      : ['start', 'should be earlier than now, where the buckets end without an end'];
  if (bucketEdges(start, end, granularity, timezone).length - 1 <= maxBuckets) return undefined;
  const least = defaultGranularity(start, end);
  return ['granularity', `makes more than ${maxBuckets} buckets: write more seconds, such as ${least}`];
};

/** Refuses a span that has no buckets, or too many. */
export const checkBuckets = z.check<SpanFields>(({ value, issues }) => {
  const [field, message] = bucketProblem(value) ?? [];
  if (field !== undefined && message !== undefined) issues.push(problem(message, value, field));
});

const statsBody = () =>
  record(
    statsFields(),
    { query: 'where', call_metrics: 'calls', usage_metrics: 'usage' },
    toSpan,
    checkBuckets,
  );

/**
 * A request for statistics. Its start is inclusive, its end exclusive; the granularity is in
 * seconds.
 */
export type StatsRequest = z.output<ReturnType<typeof statsBody>>;

/** What is known of a bucket of time, by names that the request decides on. */
export const bucket = () =>
  z
    .looseObject({ timestamp: field(timestamp, 'When the bucket begins.') })
    .register(documented, { name: 'StatsPeriod' });

/** What it took to tell groups that are not in headers. */
const priceOfStats = () =>
  z.object({
    calls: field(z.int(), 'The calls whose headers were read.'),
    payloads: field(z.int(), 'The calls whose payloads were read.'),
    traces: field(
      z.int(),
      'The traces that were read beside, since calls above are not in what was asked for.',
    ),
  });

export const callsStats = /* @__PURE__ */ endpoint({
  path: '/calls/stats',
  shape: longAnswer,
  stores: { calls: 'query', payloads: 'read', costs: 'read', feedback: 'joinMany', bookkeeping: 'use' },
  tag: 'statistics',
  name: 'CallsStats',
  summary: 'Count calls over time',
  description:
    'Counts, sums, means, extremes and percentiles of calls and their usage, in buckets of time and by groups. A call is in the bucket of its `started_at`; one that runs counts, and has no latency. Percentiles are within 1 % of the exact value, all else is exact. Buckets without calls are left out. A metric without `aggregations` and `percentiles` is summed up.',
  request: statsBody,
  answer: () =>
    z.object({
      price: field(
        z.optional(priceOfStats()),
        'What it took to read calls one by one. It is left out where rollups tell all, and unless calls are grouped by `agent`, or by what is in payloads.',
      ),
      start: field(timestamp, 'The beginning, inclusive.'),
      end: field(timestamp, 'The end, exclusive.'),
      granularity: field(z.int(), 'Seconds of a bucket.'),
      timezone: field(z.string(), 'The zone whose midnights buckets are aligned to.'),
      call_buckets: field(z.array(bucket()), 'By time and group.'),
      usage_buckets: field(z.array(bucket()), 'By time, group and `model`.'),
    }),
  examples: {
    day: {
      summary: 'A day, by op',
      body: {
        project_id: 'acme/shop',
        start: '2026-10-01T00:00:00Z',
        end: '2026-10-02T00:00:00Z',
        granularity: 86_400,
        filter: { op_names: ['answer'] },
        call_metrics: [
          { metric: 'call_count' },
          { metric: 'latency_ms', aggregations: ['max'], percentiles: [50] },
        ],
        usage_metrics: [{ metric: 'input_tokens' }],
        group_by: ['op_name'],
      },
      answer: {
        start: '2026-10-01T00:00:00.000000Z',
        end: '2026-10-02T00:00:00.000000Z',
        granularity: 86_400,
        timezone: 'UTC',
        call_buckets: [
          {
            timestamp: '2026-10-01T00:00:00.000000Z',
            op_name: 'answer',
            sum_call_count: 1,
            max_latency_ms: 1500,
            p50_latency_ms: 1500,
          },
        ],
        usage_buckets: [
          {
            timestamp: '2026-10-01T00:00:00.000000Z',
            model: 'gpt-4o',
            op_name: 'answer',
            sum_input_tokens: 1200,
          },
        ],
      },
    },
  },
});

const tokens = z.number().check(z.minimum(0));

const modelUsage = () =>
  z.object({
    requests: field(tokens, 'Requests to the model.'),
    prompt_tokens: field(tokens, 'Tokens of prompts, cached ones included.'),
    completion_tokens: field(tokens, 'Tokens of completions.'),
    total_tokens: field(tokens, 'All tokens.'),
    cache_read_input_tokens: field(tokens, "Tokens of prompts that were read from the provider's cache."),
    cache_creation_input_tokens: field(
      tokens,
      "Tokens of prompts that were written to the provider's cache.",
    ),
    reasoning_tokens: field(tokens, 'Tokens of completions that were reasoning.'),
    prompt_token_cost: field(z.optional(z.number()), 'The price of a prompt token, of the latest call.'),
    completion_token_cost: field(
      z.optional(z.number()),
      'The price of a completion token, of the latest call.',
    ),
    prompt_tokens_total_cost: field(z.optional(z.number()), 'What all tokens of prompts cost.'),
    completion_tokens_total_cost: field(z.optional(z.number()), 'What all tokens of completions cost.'),
    ...partCosts(),
    prompt_token_cost_unit: field(z.optional(z.string()), 'Such as `USD`.'),
    completion_token_cost_unit: field(z.optional(z.string()), 'Such as `USD`.'),
    effective_date: field(
      z.optional(z.nullable(timestamp)),
      'Since when the price is in force; null for ever.',
    ),
    provider_id: field(z.optional(z.string()), 'Whose price it is.'),
    pricing_level: field(
      z.optional(z.enum(['project', 'default'])),
      'Whether the project has its own price.',
    ),
    pricing_level_id: field(z.optional(z.string()), 'The project, or `default`.'),
    created_at: field(
      z.optional(z.nullable(timestamp)),
      'When the price was stored; null for a default one.',
    ),
    created_by: field(z.optional(z.string()), 'Who stored it, or whose list it is from.'),
  });

export const usageAnswer = () =>
  z.object({
    call_usage: field(
      z.record(z.string(), z.record(z.string(), modelUsage())),
      'By the id of the call, then by model.',
    ),
    error_counts: field(
      z.record(z.string(), z.int()),
      'How many calls failed, of each call and all below it, by its id.',
    ),
    unfinished_call_ids: field(
      z.array(z.string()),
      'The calls that run, or have a call below them that runs: they may use more yet.',
    ),
  });

/** What calls used with all that is below them. Unknown calls are left out. */
export type UsageAnswer = z.output<ReturnType<typeof usageAnswer>>;

/** Whether costs are answered. */
export const includeCosts = flag('Adds what the call cost, by model.');

/** The most calls of one request for usage. */
const maxCalls = 1000;
const ids = z.array(id).check(z.maxLength(maxCalls, `should be at most ${maxCalls} ids`));

const usageBody = () =>
  record(
    {
      project_id: project,
      call_ids: field(ids, 'Calls by their ids.'),
      trace_ids: field(nullish(ids), 'The traces in which the calls are, as far as they are known.'),
      include_costs: includeCosts,
    },
    { include_costs: 'withCosts' },
    ({ call_ids, trace_ids }) => ({
      callIds: [...new Set(call_ids)] as readonly string[],
      traceIds: [...new Set(trace_ids)] as readonly string[],
    }),
  );

/** Which calls are to be summed up, each once. */
export type UsageRequest = z.output<ReturnType<typeof usageBody>>;

export const callsUsage = /* @__PURE__ */ endpoint({
  path: '/calls/usage',
  handler: 'traces',
  shape: oneAnswer,
  stores: { calls: 'find', payloads: 'read', costs: 'read' },
  tag: 'statistics',
  name: 'CallsUsage',
  summary: 'Sum up usage',
  description:
    'What each call used with all calls below it, by model: tokens and, if asked for, costs at the prices in force when each call started. Models without a price have no costs. Unknown ids are left out. `trace_ids` are the traces of the calls, if you know them: calls that are found there need not be looked up.',
  request: usageBody,
  answer: usageAnswer,
  examples: {
    turn: {
      summary: 'A turn and what is below it',
      body: { project_id: 'acme/shop', call_ids: ['turn-1'], trace_ids: ['trace-1'] },
      answer: {
        call_usage: {
          'turn-1': {
            'gpt-4o': {
              requests: 1,
              prompt_tokens: 1200,
              completion_tokens: 12,
              total_tokens: 1212,
              cache_read_input_tokens: 0,
              cache_creation_input_tokens: 0,
              reasoning_tokens: 0,
            },
          },
        },
        error_counts: { 'turn-1': 0 },
        unfinished_call_ids: [],
      },
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const statsRoutes = [callsStats, callsUsage] as const;
