import type { CallsStatsRes, StatsPeriod } from '../../api/types.ts';

/** What is counted of calls. */
export interface Figures {
  readonly calls: number;
  readonly errors: number;
  /** In ms; undefined while no call has ended, and where nobody counts it. */
  readonly p50: number | undefined;
  readonly p95: number | undefined;
  readonly tokens: number;
  /** Undefined if no model has a price. */
  readonly cost: number | undefined;
}

export interface GroupFigures extends Figures {
  /** As the service has it; null for what is in none of the largest groups. */
  readonly group: string | null;
}

/** What a period without calls has. */
export const nothing: Figures = {
  calls: 0,
  errors: 0,
  p50: undefined,
  p95: undefined,
  tokens: 0,
  cost: undefined,
};

const numberAt = (bucket: StatsPeriod, name: string): number | undefined => {
  const value = bucket[name];
  return typeof value === 'number' ? value : undefined;
};

const sum = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((all, value) => all + value, 0);
};

/** Puts the buckets of calls and those of usage, one for each model, together. */
export const figuresOf = (calls: readonly StatsPeriod[], usage: readonly StatsPeriod[]): Figures => {
  const [only] = calls;
  return {
    calls: sum(calls.map((bucket) => numberAt(bucket, 'sum_call_count'))) ?? 0,
    errors: sum(calls.map((bucket) => numberAt(bucket, 'sum_error_count'))) ?? 0,
    p50: only && numberAt(only, 'p50_latency_ms'),
    p95: only && numberAt(only, 'p95_latency_ms'),
    tokens: sum(usage.map((bucket) => numberAt(bucket, 'sum_total_tokens'))) ?? 0,
    cost: sum(usage.map((bucket) => numberAt(bucket, 'sum_total_cost'))),
  };
};

const first = (usage: readonly StatsPeriod[], name: string): number | undefined =>
  usage.map((bucket) => numberAt(bucket, name)).find((value) => value !== undefined);

/** What a model was used for: its requests count as calls, with those that failed if known. */
const modelFigures = (usage: readonly StatsPeriod[]): Figures => ({
  ...figuresOf([], usage),
  calls: first(usage, 'count_error_count') ?? first(usage, 'count_total_tokens') ?? 0,
  errors: first(usage, 'sum_error_count') ?? 0,
  p50: first(usage, 'p50_latency_ms'),
  p95: first(usage, 'p95_latency_ms'),
});

/**
 * An answer together with the errors and latencies of its models. Without these it is as it was,
 * and so are answers that tell no models apart by themselves.
 */
export const withModelCalls = (answer: CallsStatsRes, models: CallsStatsRes | undefined): CallsStatsRes =>
  models ? { ...answer, usage_buckets: [...answer.usage_buckets, ...models.usage_buckets] } : answer;

const textAt = (bucket: StatsPeriod, name: string): string | null => {
  const value = bucket[name];
  return typeof value === 'string' ? value : null;
};

/**
 * The figures of each group.
 *
 * @param field the field that was grouped by; undefined tells models apart
 */
export const groupsOf = (
  { call_buckets, usage_buckets }: Pick<CallsStatsRes, 'call_buckets' | 'usage_buckets'>,
  field: string | undefined,
): GroupFigures[] => {
  if (field === undefined)
    return [...Map.groupBy(usage_buckets, (bucket) => textAt(bucket, 'model'))].map(([group, usage]) => ({
      group,
      ...modelFigures(usage),
    }));
  const usages = Map.groupBy(usage_buckets, (bucket) => textAt(bucket, field));
  return [...Map.groupBy(call_buckets, (bucket) => textAt(bucket, field))].map(([group, calls]) => ({
    group,
    ...figuresOf(calls, usages.get(group) ?? []),
  }));
};
