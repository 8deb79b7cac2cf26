import { feedbackTitle, metricTitle } from '../../../api/shared/alert-metrics.ts';
import { alertClass } from '../../../api/shared/classes.ts';
import type { Answer, ObjectVersion, Request } from '../../api/contract.ts';
import { percentText } from '../../calls/figures/figures.ts';
import { type Kept, type KeptFilter, keptTexts, toFilter, toKept } from '../../calls/filters/kept-filter.ts';
import { costText, countText, durationText, tokensText } from '../../data/format.ts';
import { isObject } from '../../data/values.ts';
import { type AlertsSearch, costPath, type TracesSearch } from '../../navigation/search.ts';

/** The value of an alert, as it is stored. */
export type AlertValue = Request<'/alerts/preview'>['alert'];

type Target = AlertValue['tell'][number];

/** An alert, by its latest version. */
export interface Alert {
  readonly id: string;
  readonly digest: string;
  readonly value: AlertValue;
}

/** The alert that a version of an object is; undefined if it is none. */
export const parseAlert = ({ object_id, digest, val }: ObjectVersion): Alert | undefined =>
  isObject(val) && val._type === alertClass ? { id: object_id, digest, value: val as AlertValue } : undefined;

export type AlertState = NonNullable<Answer<'/alerts/query'>['alerts'][number]['state']>;

export type Preview = Answer<'/alerts/preview'>;

/** How values of what alerts measure are written. */
interface Metric {
  readonly text: (value: number) => string;
  /** What a threshold is typed in. */
  readonly unit: string;
  /** How many of that unit the service's own has. @default 1 */
  readonly factor?: number;
}

const ms = { text: durationText, unit: 'ms' };

/** By metric and aggregation or percentile, as URLs have them. */
export const metrics: Readonly<Record<string, Metric>> = {
  'error_count.avg': { text: percentText, unit: '%', factor: 100 },
  'error_count.sum': { text: countText, unit: 'calls' },
  'call_count.sum': { text: countText, unit: 'calls' },
  'latency_ms.p50': ms,
  'latency_ms.p90': ms,
  'latency_ms.p95': ms,
  'latency_ms.p99': ms,
  'latency_ms.avg': ms,
  'total_cost.sum': { text: costText, unit: 'dollars' },
  'total_tokens.sum': { text: tokensText, unit: 'tokens' },
  'new_issues.sum': { text: countText, unit: 'issues' },
};

/** The metric of feedback among those to choose. */
export const ofFeedback = 'feedback';

/** Whether a name is that of a metric of calls, which filters select. */
export const measuresCalls = (metric: string): boolean =>
  metric !== ofFeedback && !metric.startsWith('new_issues.');

export const feedbackAggregations = ['avg', 'sum', 'min', 'max', 'count'] as const;

const numberText = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: 4, useGrouping: true });

const metricName = ({ metric }: Pick<AlertValue, 'metric'>): string =>
  metric.metric ? `${metric.metric}.${metric.aggregation ?? `p${metric.percentile}`}` : ofFeedback;

const getMetric = (name: string): Metric => metrics[name] ?? { text: numberText, unit: '' };

/** What an alert measures, in words: `p95 latency`. */
const metricText = (value: Pick<AlertValue, 'metric'>): string => {
  const { feedback_type: type, path, aggregation } = value.metric;
  return type ? feedbackTitle(aggregation ?? '', path ?? null, type) : metricTitle(metricName(value));
};

type Compared = Pick<AlertValue, 'metric' | 'compare'>;

/** Whether thresholds are about a change in percent. */
const isChange = ({ compare }: Pick<AlertValue, 'compare'>): boolean =>
  compare === 'day_before' || compare === 'week_before';

/** A value of an alert in its unit; of a comparison the change: `+35 %`. */
export const valueText = (compared: Compared, value: number | null): string => {
  if (value === null) return 'no data';
  if (isChange(compared)) return `${value > 0 ? '+' : ''}${numberText(value)} %`;
  return getMetric(metricName(compared)).text(value);
};

/** The unit that thresholds are typed in. */
export const getUnit = ({ metric, compare }: Pick<Draft, 'metric' | 'compare'>): string =>
  compare === 'absolute' ? getMetric(metric).unit : '%';

/** The windows to choose from, in minutes. */
export const windows: readonly (readonly [minutes: number, text: string])[] = [
  [5, '5 minutes'],
  [15, '15 minutes'],
  [30, '30 minutes'],
  [60, '1 hour'],
  [360, '6 hours'],
  [1440, '1 day'],
  [10_080, '7 days'],
];

export const windowText = (minutes: number): string =>
  windows.find(([length]) => length === minutes)?.[1] ?? `${countText(minutes)} minutes`;

const beforeTexts = { absolute: '', day_before: ' than a day before', week_before: ' than a week before' };

/** What an alert waits for: `p95 latency above 2.00 s in 1 hour`. */
export const ruleText = (value: AlertValue): string => {
  const { direction, alert, warn, window_minutes, compare } = value;
  const warned = typeof warn === 'number' ? ` (warns at ${valueText(value, warn)})` : '';
  const change = beforeTexts[compare ?? 'absolute'];
  return `${metricText(value)} ${direction} ${valueText(value, alert)}${change}${warned} in ${windowText(window_minutes)}`;
};

/** A webhook that is told. */
export interface Hook {
  readonly name: string;
  readonly format: 'slack' | 'json';
}

/** An alert as somebody types it. */
export interface Draft {
  readonly name: string;
  /** A name of `metrics`, one that the page has no words for, or `ofFeedback`. */
  readonly metric: string;
  readonly feedbackType: string;
  readonly path: string;
  readonly aggregation: (typeof feedbackAggregations)[number];
  readonly filter: KeptFilter;
  readonly window: number;
  readonly direction: AlertValue['direction'];
  readonly compare: NonNullable<AlertValue['compare']>;
  readonly warn: string;
  readonly alert: string;
  readonly noData: NonNullable<AlertValue['no_data']>;
  readonly looks: string;
  readonly remind: string;
  readonly sns: boolean;
  readonly bus: boolean;
  readonly hooks: readonly Hook[];
}

/** A new alert, with what a chart or a list was about. */
export const draftFrom = ({ metric, all, status, text, where, source }: AlertsSearch): Draft => {
  const kept = where?.filter(({ path }) => path !== costPath);
  const isOfAll = metric !== undefined ? all === true || text !== undefined : true;
  return {
    name: '',
    metric: metric ?? 'error_count.avg',
    feedbackType: '' as const,
    path: 'value' as const,
    aggregation: 'avg' as const,
    filter: {
      ...(isOfAll && { all: true }),
      ...(status && { status }),
      ...(text && { text }),
      ...(kept?.length && { where: kept }),
      ...(source && { source }),
      others: [],
      rest: {},
    },
    window: 60 as const,
    direction: 'above' as const,
    compare: 'absolute' as const,
    warn: '' as const,
    alert: '' as const,
    noData: 'no_data' as const,
    looks: '2' as const,
    remind: '' as const,
    sns: true as const,
    bus: false as const,
    hooks: [],
  };
};

const getFactor = ({ metric, compare }: Pick<Draft, 'metric' | 'compare'>): number =>
  compare === 'absolute' ? (getMetric(metric).factor ?? 1) : 1;

/** A number without the noise of its binary form. */
const plain = (value: number): number => Number(value.toPrecision(12));

const typed = (value: number | null | undefined, factor = 1): string =>
  typeof value === 'number' ? String(plain(value * factor)) : '';

const keptIn = ({ filter, query }: AlertValue): Kept => ({
  ...(filter ? { filter: filter as NonNullable<Kept['filter']> } : {}),
  ...(query ? { query: query as NonNullable<Kept['query']> } : {}),
});

/** The calls that an alert measured in a window, as far as the list has words for its filter. */
export const measuredCalls = (
  project: string,
  value: AlertValue,
  [from, to]: readonly [number, number],
): TracesSearch => {
  const { others: _others, rest: _rest, ...filters } = toFilter(keptIn(value));
  return { project, ...filters, from: new Date(from).toISOString(), to: new Date(to).toISOString() };
};

/** Whether an alert measures calls, and not feedback or issues. */
export const isOfCalls = (value: Pick<AlertValue, 'metric'>): boolean => measuresCalls(metricName(value));

/** Which calls an alert measures, in words: `all calls, production, 2 filters`. */
export const callsText = (value: AlertValue): string => {
  const filter = toFilter(keptIn(value));
  return [filter.all ? 'all calls' : 'traces', ...keptTexts(filter)].join(', ');
};

/** A stored alert, to be changed. */
export const toDraft = (value: AlertValue): Draft => {
  const { metric, compare = 'absolute' } = value;
  const name = metricName(value);
  const measured = { metric: name, compare: compare ?? 'absolute' };
  return {
    ...measured,
    name: value.name,
    feedbackType: metric.feedback_type ?? '',
    path: metric.path ?? 'value',
    aggregation: metric.aggregation ?? 'avg',
    filter: toFilter(keptIn(value)),
    window: value.window_minutes,
    direction: value.direction,
    warn: typed(value.warn, getFactor(measured)),
    alert: typed(value.alert, getFactor(measured)),
    noData: value.no_data ?? 'no_data',
    looks: typed(value.looks) || '2',
    remind: typed(value.remind_minutes),
    sns: value.tell.some(({ sns }) => sns),
    bus: value.tell.some(({ event_bus }) => event_bus),
    hooks: value.tell.flatMap(({ webhook, format }) =>
      webhook ? [{ name: webhook, format: format ?? ('json' as const) }] : [],
    ),
  };
};

/** A number that was typed; undefined for nothing. Throws an Error in words for people. */
const parseNumber = (text: string, what: string, factor = 1): number | undefined => {
  if (text.trim() === '') return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error(`${what} is not a number: ${text}`);
  return plain(value / factor);
};

const toMeasure = ({ metric, feedbackType, path, aggregation }: Draft): AlertValue['metric'] => {
  if (metric === ofFeedback) {
    if (feedbackType.trim() === '') throw new Error('Enter a feedback type.');
    return { feedback_type: feedbackType.trim(), path: path.trim(), aggregation };
  }
  const [, name = '', made = ''] = /^(.*)\.([^.]+)$/.exec(metric) ?? [];
  const percentile = /^p\d/.test(made) ? Number(made.slice(1)) : undefined;
  const figure = percentile === undefined ? { aggregation: made } : { percentile };
  // The service says which names there are.
  return { metric: name, ...figure } as AlertValue['metric'];
};

const toTargets = ({ sns, bus, hooks }: Draft): Target[] => [
  ...(sns ? [{ sns: true as const }] : []),
  ...(bus ? [{ event_bus: true as const }] : []),
  ...hooks
    .filter(({ name }) => name.trim() !== '')
    .map(({ name, format }) => ({ webhook: name.trim(), format })),
];

/**
 * The value that is stored.
 *
 * @throws Error in words for people: a number is none, or something is missing
 */
export const alertValue = (draft: Draft, enabled: boolean): AlertValue => {
  const { name, filter, window, direction, compare, noData } = draft;
  const factor = getFactor(draft);
  const alert = parseNumber(draft.alert, 'The threshold', factor);
  if (alert === undefined) throw new Error('An alert needs a threshold.');
  const warn = parseNumber(draft.warn, 'The warning threshold', factor);
  const looks = parseNumber(draft.looks, 'Consecutive checks');
  const remind = parseNumber(draft.remind, 'Remind every');
  const kept = measuresCalls(draft.metric) ? toKept(filter) : {};
  return {
    _type: alertClass,
    name: name.trim(),
    metric: toMeasure(draft),
    ...(kept.filter && { filter: kept.filter as AlertValue['filter'] }),
    ...(kept.query && { query: kept.query as AlertValue['query'] }),
    window_minutes: window,
    direction,
    alert,
    compare,
    no_data: noData,
    ...(warn !== undefined && { warn }),
    ...(looks !== undefined && { looks }),
    ...(remind !== undefined && { remind_minutes: remind }),
    tell: toTargets(draft),
    enabled,
  };
};

/** A span in which an alert was in one state, in ms since 1970. */
export interface Stretch {
  readonly state: AlertState | null;
  readonly from: number;
  readonly to: number;
}

type Change = { readonly at: string; readonly state: AlertState; readonly previous: AlertState | null };

/**
 * The states of a span of time, in order.
 *
 * @param changes oldest first; what was before the first is its `previous`, null if nobody knows
 */
export const toStretches = (changes: readonly Change[], start: number, end: number): Stretch[] => {
  const inside = changes.filter(({ at }) => Date.parse(at) < end);
  const stretches: Stretch[] = [];
  let from = start;
  let state: AlertState | null = inside[0]?.previous ?? null;
  for (const change of inside) {
    const at = Math.max(start, Date.parse(change.at));
    if (at > from) stretches.push({ state, from, to: at });
    ({ state } = change);
    from = at;
  }
  return [...stretches, ...(end > from ? [{ state, from, to: end }] : [])];
};
