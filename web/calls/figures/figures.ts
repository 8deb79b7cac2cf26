import type { Stats, StatsBucket } from '../../api/contract.ts';
import { clockText, dayText } from '../../data/format.ts';
import { typedText } from '../../data/values.ts';
import type { Percentile } from '../../navigation/search.ts';
import type { Span, Worse } from './requests.ts';

/** Latencies in ms; undefined while no call has ended, and where nobody counts them. */
type Latencies = { readonly [Of in Percentile]: number | undefined };

export const noLatencies: Latencies = { p50: undefined, p90: undefined, p95: undefined, p99: undefined };

/** What is counted of calls. */
export interface Figures extends Latencies {
  readonly calls: number;
  readonly errors: number;
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
  ...noLatencies,
  calls: 0,
  errors: 0,
  tokens: 0,
  cost: undefined,
};

/** A number of a bucket; undefined if it has none by that name. */
export const numberAt = (bucket: StatsBucket, name: string): number | undefined => {
  const value = bucket[name];
  return typeof value === 'number' ? value : undefined;
};

const sum = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((all, value) => all + value, 0);
};

const latenciesAt = (read: (name: string) => number | undefined): Latencies => ({
  p50: read('p50_latency_ms'),
  p90: read('p90_latency_ms'),
  p95: read('p95_latency_ms'),
  p99: read('p99_latency_ms'),
});

/** Puts the buckets of calls and those of usage, one for each model, together. */
export const toFigures = (calls: readonly StatsBucket[], usage: readonly StatsBucket[]): Figures => {
  const [only] = calls;
  return {
    calls: sum(calls.map((bucket) => numberAt(bucket, 'sum_call_count'))) ?? 0,
    errors: sum(calls.map((bucket) => numberAt(bucket, 'sum_error_count'))) ?? 0,
    ...latenciesAt((name) => only && numberAt(only, name)),
    tokens: sum(usage.map((bucket) => numberAt(bucket, 'sum_total_tokens'))) ?? 0,
    cost: sum(usage.map((bucket) => numberAt(bucket, 'sum_total_cost'))),
  };
};

const first = (usage: readonly StatsBucket[], name: string): number | undefined =>
  usage.map((bucket) => numberAt(bucket, name)).find((value) => value !== undefined);

/** What a model was used for: its requests count as calls, with those that failed if known. */
const modelFigures = (usage: readonly StatsBucket[]): Figures => ({
  ...toFigures([], usage),
  calls: first(usage, 'count_error_count') ?? first(usage, 'count_total_tokens') ?? 0,
  errors: first(usage, 'sum_error_count') ?? 0,
  ...latenciesAt((name) => first(usage, name)),
});

/**
 * An answer together with the errors and latencies of its models. Without these it is as it was,
 * and so are answers that tell no models apart by themselves.
 */
export const withModelCalls = (answer: Stats, models: Stats | undefined): Stats =>
  models ? { ...answer, usage_buckets: [...answer.usage_buckets, ...models.usage_buckets] } : answer;

/** What a group is called: a score as a filter has it, with its type. */
const textAt = (bucket: StatsBucket, name: string): string | null => {
  const value = bucket[name];
  if (name === 'feedback' && (typeof value === 'number' || typeof value === 'boolean')) return String(value);
  if (typeof value !== 'string') return null;
  return name === 'feedback' ? typedText(value) : value;
};

/**
 * The figures of each group.
 *
 * @param field the field that was grouped by; undefined tells models apart
 */
export const toGroups = (
  { call_buckets, usage_buckets }: Pick<Stats, 'call_buckets' | 'usage_buckets'>,
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
    ...toFigures(calls, usages.get(group) ?? []),
  }));
};

/** What got worse than in the period before. */
export interface Change {
  readonly group: string;
  readonly worse: Worse;
  /** p95 in ms, cost of a call, or the share of calls that failed. */
  readonly before: number;
  readonly now: number;
}

/** With fewer calls in either period, a difference says nothing. */
const minCalls = 5;

/** How much worse something has to be to be told: less comes and goes by itself. */
const minSlower = 1.2;
const minSlowerMs = 20;
const minDearer = 1.1;
const minFaultier = 0.02;

/** The cost of a call on average; undefined without prices. */
const costOfCall = ({ cost, calls }: Figures): number | undefined =>
  cost === undefined || calls === 0 ? undefined : cost / calls;

/** The share of calls that failed. */
export const errorRate = ({ errors, calls }: Figures): number => (calls === 0 ? 0 : errors / calls);

const slower = (before: Figures, now: Figures): readonly [number, number] | undefined => {
  const from = before.p95;
  const to = now.p95;
  if (from === undefined || to === undefined) return undefined;
  return to >= from * minSlower && to - from >= minSlowerMs ? [from, to] : undefined;
};

const dearer = (before: Figures, now: Figures): readonly [number, number] | undefined => {
  const from = costOfCall(before);
  const to = costOfCall(now);
  return from !== undefined && to !== undefined && from > 0 && to >= from * minDearer
    ? [from, to]
    : undefined;
};

const faultier = (before: Figures, now: Figures): readonly [number, number] | undefined => {
  const from = errorRate(before);
  const to = errorRate(now);
  return to - from >= minFaultier ? [from, to] : undefined;
};

const tests = { faultier, slower, dearer } as const;

/** How bad a change is, to put the worst first: by how often its group is called, and how much. */
const computeWeight = ({ before, now }: Change, calls: number): number =>
  Math.log2(Math.min(64, now / (before || now / 64))) * Math.log2(1 + calls);

/** What became slower, dearer or more faulty, the worst first. */
export const findChanges = (before: readonly GroupFigures[], now: readonly GroupFigures[]): Change[] => {
  const earlier = new Map(before.map((figures) => [figures.group, figures]));
  const weighed = now.flatMap((figures) => {
    const { group, calls } = figures;
    const old = earlier.get(group);
    if (group === null || !old || calls < minCalls || old.calls < minCalls) return [];
    return (Object.keys(tests) as Worse[]).flatMap((worse) => {
      const found = tests[worse](old, figures);
      if (!found) return [];
      const change: Change = { group, worse, before: found[0], now: found[1] };
      return [{ change, weight: computeWeight(change, calls) }];
    });
  });
  return weighed.sort((a, b) => b.weight - a.weight).map(({ change }) => change);
};

/** A bucket of time with what is counted in it. */
export interface Point extends Figures {
  /** In ms since 1970, inclusive, and within the period. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** The figures of each group in it. */
  readonly groups: ReadonlyMap<string, Figures>;
}

const dayMs = 86_400_000;

/**
 * The next bucket's beginning. Buckets of days begin at the reader's midnights, and days have 23 to
 * 25 hours. Shorter buckets are counted from each midnight, so the last of a day may be cut.
 */
const nextEdge = (from: number, granularity: number): number => {
  const ms = granularity * 1000;
  const midnight = new Date(from);
  midnight.setHours(24 * Math.max(1, Math.round(ms / dayMs)), 0, 0, 0);
  return ms >= dayMs ? midnight.getTime() : Math.min(from + ms, midnight.getTime());
};

/** The edges of the buckets, with those that have no calls and are not in the answer. */
export const listEdges = ({ start, end }: Span, granularity: number, known: readonly number[]): number[] => {
  const midnight = new Date(start);
  midnight.setHours(0, 0, 0, 0);
  // Buckets of several days are counted from days that the answer alone knows.
  let at = granularity * 1000 > dayMs ? (known[0] ?? midnight.getTime()) : midnight.getTime();
  const edges: number[] = [];
  while (at < end) {
    const next = nextEdge(at, granularity);
    if (next > start) edges.push(at);
    at = next;
  }
  return [...new Set([...edges, ...known])].sort((a, b) => a - b);
};

const parseTime = ({ timestamp }: StatsBucket): number => Date.parse(timestamp);

/**
 * The points of the charts, in order of time, those without calls included.
 *
 * @param field the field that was grouped by; undefined tells models apart
 */
export const toPoints = (answer: Stats, span: Span, field: string | undefined): Point[] => {
  const { call_buckets, usage_buckets, granularity } = answer;
  const calls = Map.groupBy(call_buckets, parseTime);
  const usages = Map.groupBy(usage_buckets, parseTime);
  const known = [...new Set([...calls.keys(), ...usages.keys()])].sort((a, b) => a - b);
  const edges = listEdges(span, granularity, known);
  return edges.map((edge, at) => {
    const call_buckets = calls.get(edge) ?? [];
    const usage_buckets = usages.get(edge) ?? [];
    const groups = toGroups({ call_buckets, usage_buckets }, field);
    return {
      ...(call_buckets.length > 0 ? toFigures(call_buckets, usage_buckets) : nothing),
      // Percentiles of groups cannot be put together.
      ...(field !== undefined && noLatencies),
      from: Math.max(span.start, edge),
      to: Math.min(span.end, edges[at + 1] ?? span.end),
      groups: new Map(groups.flatMap(({ group, ...figures }) => (group === null ? [] : [[group, figures]]))),
    };
  });
};

const daySeconds = 86_400;

/** A tick of the axis of time: a day, or a time of it. Midnights are shown as their days. */
export const tickText = (ms: number, granularity: number): string =>
  granularity >= daySeconds || clockText(ms) === '00:00' ? dayText(ms) : clockText(ms);

/** A bucket of time: `22 Nov 14:00 – 14:30`. */
export const bucketText = ({ from, to }: Pick<Point, 'from' | 'to'>): string => {
  if (to - from >= daySeconds * 1000) return dayText(from);
  return `${dayText(from)} ${clockText(from)} – ${clockText(to)}`;
};

/** A share in percent: `2.5 %`. */
export const percentText = (share: number): string => {
  const percent = share * 100;
  return `${percent >= 10 || percent === 0 ? Math.round(percent) : percent.toFixed(1)} %`;
};

/** How much a figure changed: `+12 %`, `×3.2`. Undefined if there is nothing to compare it with. */
export const changeText = (before: number | undefined, now: number | undefined): string | undefined => {
  if (before === undefined || now === undefined || before === 0) return undefined;
  const factor = now / before;
  if (factor >= 2) return `×${factor >= 10 ? Math.round(factor) : factor.toFixed(1)}`;
  const percent = Math.round((factor - 1) * 100);
  return percent === 0 ? '±0 %' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`;
};

/** What charts show of calls, as the API calls it. */
export const figureMetrics = [
  'call_count',
  'error_count',
  'latency_ms',
  'total_tokens',
  'total_cost',
] as const;

export type FigureMetric = (typeof figureMetrics)[number];

const figureTitles: Readonly<Record<FigureMetric, string>> = {
  call_count: 'Calls',
  error_count: 'Errors',
  latency_ms: 'Latency',
  total_tokens: 'Tokens',
  total_cost: 'Cost',
};

/** What charts of latencies show unless somebody chose otherwise. */
export const usualPercentile: Percentile = 'p95';

/** The title of a figure. Groups have one percentile of latencies. */
export const figureTitle = (
  metric: FigureMetric,
  isGrouped: boolean,
  percentile: Percentile = usualPercentile,
): string => (metric === 'latency_ms' && isGrouped ? `${percentile} latency` : figureTitles[metric]);

/** Rows in an order: those without what they are sorted by come last, whichever way. */
export const sortRows = <Row>(
  rows: readonly Row[],
  sort: string,
  getValue: (row: Row, column: string) => string | number | undefined,
): Row[] => {
  const descending = sort.startsWith('-');
  const column = descending ? sort.slice(1) : sort;
  return rows.toSorted((a, b) => {
    const one = getValue(a, column);
    const other = getValue(b, column);
    if (one === undefined || other === undefined)
      return Number(one === undefined) - Number(other === undefined);
    const order =
      typeof one === 'string' || typeof other === 'string'
        ? String(one).localeCompare(String(other), 'en', { numeric: true })
        : one - other;
    return descending ? -order : order;
  });
};
