import type { Expression } from '../../foundations/expression/index.ts';
import type { Micros, ProjectId } from '../../foundations/wire/index.ts';
import type { CallsFilter } from '../query/index.ts';

/** What is counted of calls. */
export const callMetrics = ['call_count', 'error_count', 'latency_ms'] as const;
export type CallMetric = (typeof callMetrics)[number];

/** What is counted of the usage of a model. */
export const tokenMetrics = [
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
] as const;
export type TokenMetric = (typeof tokenMetrics)[number];

/** What usage costs, at the prices in force when its call started. */
export const costMetrics = ['input_cost', 'output_cost', 'total_cost'] as const;
export type CostMetric = (typeof costMetrics)[number];

/**
 * What is counted of the calls themselves that used a model. A call that failed and has no usage
 * counts here for the model that its inputs name.
 */
export const modelCallMetrics = ['error_count', 'latency_ms'] as const;
export type ModelCallMetric = (typeof modelCallMetrics)[number];

export const usageMetrics = [...tokenMetrics, ...costMetrics, ...modelCallMetrics] as const;
export type UsageMetric = TokenMetric | CostMetric | ModelCallMetric;

export const isCostMetric = (metric: UsageMetric): metric is CostMetric =>
  costMetrics.some((each) => each === metric);

export const isModelCallMetric = (metric: UsageMetric): metric is ModelCallMetric =>
  modelCallMetrics.some((each) => each === metric);

/** What is made of the values of a metric. */
export const aggregations = ['sum', 'avg', 'min', 'max', 'count'] as const;
export type Aggregation = (typeof aggregations)[number];

/** A metric, and what is to be made of it. */
export interface Asked<M extends CallMetric | UsageMetric> {
  readonly metric: M;
  readonly aggregations: readonly Aggregation[];
  /** From 0 to 100. */
  readonly percentiles: readonly number[];
}

/** What calls can be grouped by. */
export const groupFields = ['op_name', 'user', 'status', 'thread_id', 'display_name'] as const;
export type GroupField = (typeof groupFields)[number];

/** A request for statistics, checked. */
export interface StatsRequest {
  readonly projectId: ProjectId;
  /** Inclusive. */
  readonly start: Micros;
  /** Exclusive. */
  readonly end: Micros;
  /** Seconds: less than a day, or whole days. */
  readonly granularity: number;
  /** An IANA name. */
  readonly timezone: string;
  readonly filter: CallsFilter;
  readonly where: Expression | null;
  readonly calls: readonly Asked<CallMetric>[];
  readonly usage: readonly Asked<UsageMetric>[];
  /** At most two. */
  readonly groupBy: readonly GroupField[];
}
