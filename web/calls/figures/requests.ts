import type { StatsQuery } from '../../api/contract.ts';
import { typedText } from '../../data/values.ts';
import {
  type Changes,
  type Condition,
  type Dimension,
  type OverviewSearch,
  otherSources,
  ranges,
  type Time,
  type TracesSearch,
} from '../../navigation/search.ts';
import { selectionOf } from '../list/request.ts';
import { parseScorePath, type Score } from '../scores.ts';
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
export const toPeriod = ({ range, from, to }: Changes<Time>, now: number): Period => {
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

/** What figures are grouped by: a field, a score, or, undefined, models. */
export type Grouping = (typeof fields)[keyof typeof fields] | Score;

/**
 * What a dimension groups by; undefined for models.
 *
 * @param score the path of the score, for the dimension of scores; without one, it is that of operations
 */
export const getGrouping = (by: Dimension | undefined, score?: string): Grouping => {
  if (by === undefined) return undefined;
  return by === 'score' ? (parseScorePath(score ?? '') ?? fields.op) : fields[by];
};

/** What groups are called by in answers; undefined for models. */
export const fieldOf = (grouping: Grouping): string | undefined =>
  typeof grouping === 'object' ? 'feedback' : grouping;

/** Whether the groups are read from the calls, since rollups do not know them. */
export const isRead = (grouping: Grouping): boolean =>
  fieldOf(grouping)?.startsWith('attributes.') === true || typeof grouping === 'object';

const groupBy = (grouping: Grouping): Pick<StatsQuery, 'group_by' | 'group_by_feedback'> =>
  typeof grouping === 'object'
    ? { group_by_feedback: { feedback_type: grouping.type, path: grouping.field } }
    : grouping === undefined
      ? {}
      : { group_by: [grouping] };

/** Which calls figures are counted of, as requests have it. */
export type Selection = Pick<StatsQuery, 'project_id' | 'filter' | 'query'>;

/** A moment in ms since 1970, as requests have it. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** The reader's own zone, whose midnights days begin at. */
export const timezone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The calls that figures are counted of, whatever their time: those of a list. */
export type Counted = Pick<TracesSearch, 'project' | 'all' | 'status' | 'text' | 'where' | 'source'>;

/** The calls that the overview counts: those of all levels, unless it is filtered. */
export const countedBy = ({ project, source, roots, status, text, where }: OverviewSearch): Counted => ({
  project,
  ...(!roots && { all: true }),
  ...(source && { source }),
  ...(status && { status }),
  ...(text && { text }),
  ...(where && { where }),
});

/** The same calls without the filters that rollups do not know. */
export const unfilteredOf = ({ project, source }: Counted): Counted => ({
  project,
  all: true,
  ...(source && { source }),
});

/** Whether the service reads the calls themselves to tell which of them count. */
export const isFiltered = ({ all, status, text, where }: Counted): boolean =>
  !all || text !== undefined || where !== undefined || status !== undefined;

/** The figures of a span, in buckets of so many seconds. */
export const figuresRequest = (
  selection: Selection,
  { start, end }: Span,
  granularity: number,
  grouping: Grouping,
): StatsQuery => ({
  ...selection,
  start: iso(start),
  end: iso(end),
  granularity,
  timezone: timezone(),
  call_metrics: [
    { metric: 'call_count' },
    { metric: 'error_count' },
    { metric: 'latency_ms', percentiles: [50, 90, 95, 99] },
  ],
  usage_metrics: [
    { metric: 'total_tokens', aggregations: ['sum', 'count'] },
    { metric: 'total_cost' },
    { metric: 'cache_read_input_tokens' },
    { metric: 'reasoning_tokens' },
  ],
  ...groupBy(grouping),
});

/** The figures over time. */
export const seriesRequest = (counted: Counted, period: Period, grouping: Grouping): StatsQuery =>
  figuresRequest(selectionOf(counted), period, period.granularity, grouping);

/**
 * The errors and latencies of models over a span. Rollups do not have them, so the service reads
 * the headers of all calls in it.
 */
export const modelCallsRequest = (selection: Selection, span: Span, granularity: number): StatsQuery => {
  const { call_metrics: _calls, ...request } = figuresRequest(selection, span, granularity, undefined);
  return {
    ...request,
    usage_metrics: [
      { metric: 'error_count', aggregations: ['sum', 'count'] },
      { metric: 'latency_ms', percentiles: [50, 90, 95, 99] },
    ],
  };
};

/** A bucket that is longer than any span: a hundred years from 1970 on, in seconds. */
export const whole = 36_500 * 86_400;

/** The figures of a whole span, in one bucket: percentiles of parts cannot be put together. */
export const totalsRequest = (counted: Counted, span: Span, grouping: Grouping): StatsQuery =>
  figuresRequest(selectionOf(counted), span, whole, grouping);

/** The same of all calls, with what tells where the money went. */
export const wholeRequest = (counted: Counted, span: Span): StatsQuery => {
  const request = totalsRequest(counted, span, undefined);
  return {
    ...request,
    usage_metrics: [
      ...(request.usage_metrics ?? []),
      ...spendingMetrics
        .filter((metric) => !request.usage_metrics?.some((asked) => asked.metric === metric))
        .map((metric) => ({ metric })),
    ],
  };
};

/** The calls of a span of time, which figures are counted of. */
export const callsIn = (counted: Counted, { start, end }: Span): TracesSearch => ({
  ...counted,
  from: iso(start),
  to: iso(end),
});

/** The condition that calls of a group fulfil. */
const toCondition = (by: Exclude<Dimension, 'source'>, group: string, score = ''): Condition => {
  // Groups by scores are called as filters have their values.
  if (by === 'score') return { path: score, op: 'is', value: group };
  if (by === 'model') return { path: `summary.usage.${group}`, op: 'exists', value: '' };
  return { path: fields[by], op: 'is', value: typedText(group) };
};

/**
 * The calls of a group.
 *
 * @param score the path of the score, if groups are those of one
 */
export const callsOfGroup = (
  counted: Counted,
  span: Span,
  by: Dimension,
  group: string,
  score?: string,
): TracesSearch => {
  const { source: _all, ...calls } = callsIn(counted, span);
  if (by === 'source') {
    const other = otherSources.find((source) => source === group);
    return { ...calls, ...(other && { source: other }) };
  }
  const { where = [] } = counted;
  return { ...callsIn(counted, span), where: [...where, toCondition(by, group, score)] };
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
  score?: string,
): TracesSearch => ({
  ...callsOfGroup(counted, span, by, group, score),
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
