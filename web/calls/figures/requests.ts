import type { StatsQuery } from '../../api/contract.ts';
import { typedText } from '../../data/values.ts';
import {
  type Condition,
  type Dimension,
  type OverviewSearch,
  otherSources,
  ranges,
  type TracesSearch,
} from '../../navigation/search.ts';
import { selectionOf } from '../list/request.ts';
import { spendingMetrics } from './spending.ts';

const minuteMs = 60_000;
const hour = 3600;

/** A span of time in ms since 1970: from the first, inclusive, to the second, exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What the overview is about: a span of time, and the one of the same length before it. */
export interface Period extends Span {
  readonly before: Span;
  /** Seconds of a bucket of the charts. */
  readonly granularity: number;
}

/** Buckets to choose from, in seconds. Days begin at the reader's midnights. */
const usual = [60, 300, 600, 1800, hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour, 7 * 24 * hour] as const;

/** As many points as can be told apart and clicked. */
const maxPoints = 62;

const chooseGranularity = (ms: number): number =>
  usual.find((seconds) => ms / 1000 / seconds <= maxPoints) ?? 28 * 24 * hour;

/**
 * The period of a URL's state. A range ends with the present minute, so that a view that is drawn
 * again within it asks for nothing anew.
 *
 * @param now ms since 1970
 */
export const toPeriod = ({ range, from, to }: OverviewSearch, now: number): Period => {
  const end =
    (to === undefined || range ? undefined : Date.parse(to)) ?? Math.ceil(now / minuteMs) * minuteMs;
  const length = ranges[range ?? '24h'] * minuteMs;
  const startTime = from === undefined || range ? end - length : Date.parse(from);
  const start = startTime < end ? startTime : end - length;
  return {
    start,
    end,
    before: { start: start - (end - start), end: start },
    granularity: chooseGranularity(end - start),
  };
};

/*
 * What the overview asks for. Groups by operation and user and sums of usage come from rollups, so
 * that months cost the service little.
 */

/** The fields to group by; models are told apart without one. */
const fields = {
  op: 'op_name',
  kind: 'attributes.kind',
  model: undefined,
  tool: 'attributes.tool.name',
  agent: 'attributes.agent.name',
  prompt: 'attributes.prompt.name',
  user: 'svc_user_id',
  'end-user': 'attributes.user.id',
  environment: 'attributes.environment',
  release: 'attributes.release',
  source: 'source',
} as const;

type GroupField = (typeof fields)[Dimension];

/** The field of a dimension; undefined for models. */
export const getField = (by: Dimension | undefined): GroupField => by && fields[by];

/** Whether the groups are read from the headers of calls, since rollups do not know them. */
export const isRead = (by: Dimension): boolean => fields[by]?.startsWith('attributes.') === true;

const iso = (ms: number): string => new Date(ms).toISOString();

/** The calls that figures are counted of, whatever their time: those of a list. */
export type Counted = Pick<TracesSearch, 'project' | 'all' | 'status' | 'text' | 'where' | 'source'>;

/** The calls that the overview counts: those of all levels. */
export const countedBy = ({ project, source }: OverviewSearch): Counted => ({
  project,
  all: true,
  ...(source && { source }),
});

const statsRequest = (
  counted: Counted,
  { start, end }: Span,
  granularity: number,
  field: GroupField,
): StatsQuery => ({
  ...selectionOf(counted),
  start: iso(start),
  end: iso(end),
  granularity,
  timezone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
  call_metrics: [
    { metric: 'call_count' },
    { metric: 'error_count' },
    { metric: 'latency_ms', percentiles: [50, 95] },
  ],
  usage_metrics: [{ metric: 'total_tokens', aggregations: ['sum', 'count'] }, { metric: 'total_cost' }],
  ...(field && { group_by: [field] }),
});

/** The figures over time. */
export const seriesRequest = (counted: Counted, period: Period, field: GroupField): StatsQuery =>
  statsRequest(counted, period, period.granularity, field);

/**
 * The errors and latencies of models over a span. Rollups do not have them, so the service reads
 * the headers of all calls in it.
 */
export const modelCallsRequest = (counted: Counted, span: Span, granularity: number): StatsQuery => {
  const { call_metrics: _calls, ...request } = statsRequest(counted, span, granularity, undefined);
  return {
    ...request,
    usage_metrics: [
      { metric: 'error_count', aggregations: ['sum', 'count'] },
      { metric: 'latency_ms', percentiles: [50, 95] },
    ],
  };
};

/** A bucket that is longer than any span: a hundred years from 1970 on, in seconds. */
export const whole = 36_500 * 86_400;

/** The figures of a whole span, in one bucket: percentiles of parts cannot be put together. */
export const totalsRequest = (counted: Counted, span: Span, field: GroupField): StatsQuery =>
  statsRequest(counted, span, whole, field);

/** The same of all calls, with what tells where the money went. */
export const wholeRequest = (counted: Counted, span: Span): StatsQuery => {
  const request = totalsRequest(counted, span, undefined);
  return {
    ...request,
    usage_metrics: [...(request.usage_metrics ?? []), ...spendingMetrics.map((metric) => ({ metric }))],
  };
};

/** The calls of a span of time, which figures are counted of. */
export const callsIn = (counted: Counted, { start, end }: Span): TracesSearch => ({
  ...counted,
  from: iso(start),
  to: iso(end),
});

/** The condition that calls of a group fulfil. */
const toCondition = (by: Exclude<Dimension, 'source'>, group: string): Condition => {
  if (by === 'model') return { path: `summary.usage.${group}`, op: 'exists', value: '' };
  return { path: fields[by], op: 'is', value: typedText(group) };
};

/** The calls of a group. */
export const callsOfGroup = (counted: Counted, span: Span, by: Dimension, group: string): TracesSearch => {
  const { source: _all, ...calls } = callsIn(counted, span);
  if (by === 'source') {
    const other = otherSources.find((source) => source === group);
    return { ...calls, ...(other && { source: other }) };
  }
  const { where = [] } = counted;
  return { ...callsIn(counted, span), where: [...where, toCondition(by, group)] };
};

/** In what way a group became worse. */
export type Worse = 'slower' | 'dearer' | 'faultier';

/** The calls that show what became worse, the worst first where they can be sorted by it. */
export const worseCalls = (
  counted: Counted,
  span: Span,
  by: Dimension,
  group: string,
  worse: Worse,
): TracesSearch => ({
  ...callsOfGroup(counted, span, by, group),
  // What failed has no usage as a rule.
  ...(worse === 'faultier' &&
    by === 'model' && {
      where: [...(counted.where ?? []), { path: 'inputs.model', op: 'is' as const, value: typedText(group) }],
    }),
  ...(worse === 'faultier' && { status: ['error'] }),
  ...(worse === 'slower' && { sort: '-summary.svc.latency_ms' }),
});

/** The calls of a span that failed. */
export const failuresIn = (counted: Counted, span: Span): TracesSearch => ({
  ...callsIn(counted, span),
  status: ['error'],
});
