import type { Alert, Measure } from '../../../api/alerts.ts';
import { feedbackTitle, metricTitle, metricUnit } from '../../../api/shared/alert-metrics.ts';
import { type Expression, isDuring, toPath, valueAt } from '../../../foundations/expression/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseJson,
  parseTime,
  plainNumber,
} from '../../../foundations/wire/index.ts';
import {
  type Ask,
  Cell,
  chooseSource,
  computeNumber,
  countTogether,
  keepingFor,
  mergeSpans,
  metricsFor,
  Numbers,
  numberIn,
  type OneNumber,
  type Span,
  type StatsLookups,
} from '../../questions/stats/index.ts';
import { queryFeedback } from '../../records/feedback/index.ts';

/** Where what alerts measure is. */
export interface Sources {
  readonly calls: Store;
  readonly feedback: Store;
  /** Where is what was decided on issues. */
  readonly objects: Store;
  readonly lookups: StatsLookups;
}

const minute = 60_000_000;
const day = 24 * 60 * minute;

/** The window that ends at a time. */
export const toWindow = ({ windowMinutes }: Pick<Alert, 'windowMinutes'>, end: Micros): Span => [
  end - windowMinutes * minute,
  end,
];

/** How long before a window the one lies that it is compared with; 0 for none. */
export const comparedBefore = ({ compare }: Pick<Alert, 'compare'>): Micros =>
  ({ absolute: 0, day_before: day, week_before: 7 * day })[compare];

/** What a window has, and the one that it is compared with. */
export interface Measured {
  readonly value: number | null;
  /** Null for an absolute value. */
  readonly compared: { readonly current: number | null; readonly before: number | null } | null;
}

/**
 * The change from a number to another, in percent.
 *
 * @returns null without one of them; infinity from 0 to more
 */
export const percentChange = (current: number | null, before: number | null): number | null => {
  if (current === null || before === null) return null;
  return current === before ? 0 : ((current - before) / Math.abs(before)) * 100;
};

/** What an alert says of a window, from what the windows have that it asks for. */
export const compared = (
  alert: Pick<Alert, 'compare'>,
  current: number | null,
  before: number | null,
): Measured =>
  alert.compare === 'absolute'
    ? { value: current, compared: null }
    : { value: percentChange(current, before), compared: { current, before } };

/** What is measured, as the page says it, with the unit of its numbers: `p95 latency in ms`. */
export const measureText = ({ metric, feedbackType, path, aggregation, percentile }: Measure): string => {
  const made = aggregation ?? `p${percentile}`;
  if (metric === null) return feedbackTitle(made, path, feedbackType ?? '');
  const unit = metricUnit(metric);
  return `${metricTitle(`${metric}.${made}`)}${unit ? ` in ${unit}` : ''}`;
};

// Of calls.

/** What an alert makes of calls; undefined if it measures feedback or counts issues. */
export const callNumber = ({ metric, aggregation, percentile }: Measure): OneNumber | undefined =>
  metric === null || metric === 'new_issues' ? undefined : { metric, aggregation, percentile };

/** Whether an alert counts new issues. */
export const countsIssues = ({ metric }: Pick<Measure, 'metric'>): boolean => metric === 'new_issues';

/** Asks for what an alert counts of calls in a span. */
export const toAsk = (
  alert: Pick<Alert, 'filter' | 'where'>,
  number: OneNumber,
  span: Span,
  cellAt: Ask['cellAt'],
  edges: readonly Micros[] = [],
): Ask => ({ ...metricsFor(number), span, edges, filter: alert.filter, where: alert.where, cellAt });

/** An empty cell for a number. */
export const cellFor = (number: OneNumber): Cell => new Cell(keepingFor(metricsFor(number)));

// Of feedback.

/** A value of feedback. */
export interface Rated {
  readonly type: string;
  readonly payload: JsonValue;
  readonly createdAt: Micros;
  /** What it is on. */
  readonly ref: string;
}

/** Reads the feedback of some types that was created within a span. */
export async function* ratedIn(
  store: Store,
  projectId: ProjectId,
  types: readonly string[],
  [from, to]: Span,
  budget: RequestBudget,
): AsyncGenerator<Rated> {
  const ofTypes: Expression = {
    kind: 'in',
    input: { kind: 'field', path: toPath('feedback_type') },
    options: [...new Set(types)].map((value) => ({ kind: 'literal', value })),
  };
  const where: Expression = { kind: 'and', operands: [ofTypes, ...isDuring('created_at', from, to)] };
  const query = {
    projectId,
    where,
    fields: ['feedback_type', 'payload', 'created_at', 'svc_ref'],
    sort: [],
    limit: null,
    offset: 0,
  };
  for await (const batch of queryFeedback(store, query, budget).records)
    for (const text of batch) {
      const record = parseJson(text) as JsonValue;
      if (!isJsonObject(record)) continue;
      yield {
        type: String(record.feedback_type),
        payload: record.payload ?? null,
        createdAt: parseTime(String(record.created_at)) ?? 0,
        ref: String(record.svc_ref),
      };
    }
}

/** The number at the place of feedback that an alert measures; undefined if there is none. */
export const getRating = ({ feedbackType, path }: Measure, { type, payload }: Rated): number | undefined => {
  if (type !== feedbackType || path === null) return undefined;
  const value = plainNumber(valueAt(payload, path.split('.')));
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
};

// Together.

/** A window of an alert that is to be measured. */
export interface Wanted {
  readonly alert: Alert;
  /** The end of the window. */
  readonly end: Micros;
}

/** The windows that one look reads: that of the alert, and the one that it is compared with. */
const toSpans = ({ alert, end }: Wanted): Span[] => {
  const [from, to] = toWindow(alert, end);
  const before = comparedBefore(alert);
  return [[from, to], ...(before > 0 ? [[from - before, to - before] as const] : [])];
};

/** What to do to measure a window: the number of each of its spans, once all has been read. */
interface Measuring {
  readonly wanted: Wanted;
  readonly numbers: readonly (() => number | null)[];
}

/** Measures windows by a number that is known of every span. */
export const measureBy = (windows: readonly Wanted[], numberOf: (span: Span) => number): Measured[] =>
  windows.map((wanted) => {
    const [current = null, before = null] = toSpans(wanted).map(numberOf);
    return compared(wanted.alert, current, before);
  });

/**
 * Measures windows of calls and feedback, of which all are read together that can be.
 *
 * @param now the time, in milliseconds since 1970
 * @returns in their order
 */
export const measure = async (
  { calls, feedback, lookups }: Pick<Sources, 'calls' | 'feedback' | 'lookups'>,
  projectId: ProjectId,
  windows: readonly Wanted[],
  budget: RequestBudget,
  now: () => number,
): Promise<Measured[]> => {
  const asks: Ask[] = [];
  const rated: { readonly measure: Measure; readonly span: Span; readonly values: Numbers }[] = [];
  const numberOver = (alert: Alert, span: Span): (() => number | null) => {
    const number = callNumber(alert.metric);
    if (!number) {
      const values = new Numbers(false);
      rated.push({ measure: alert.metric, span, values });
      return () => computeNumber(alert.metric, values);
    }
    const cell = cellFor(number);
    asks.push(toAsk(alert, number, span, () => cell));
    return () => numberIn(number, cell);
  };
  const measuring = windows.map(
    (wanted): Measuring => ({
      wanted,
      numbers: toSpans(wanted).map((span) => numberOver(wanted.alert, span)),
    }),
  );
  if (asks.length > 0) await countTogether(calls, projectId, asks, budget, lookups, now);
  await readRated(feedback, projectId, rated, budget);
  return measuring.map(({ wanted: { alert }, numbers: [current, before] }) =>
    compared(alert, current?.() ?? null, before?.() ?? null),
  );
};

const readRated = async (
  store: Store,
  projectId: ProjectId,
  rated: readonly { readonly measure: Measure; readonly span: Span; readonly values: Numbers }[],
  budget: RequestBudget,
): Promise<void> => {
  for (const span of mergeSpans(rated.map((wanted) => wanted.span))) {
    const some = rated.filter((wanted) => wanted.span[0] >= span[0] && wanted.span[1] <= span[1]);
    const types = some.flatMap(({ measure: { feedbackType } }) => feedbackType ?? []);
    for await (const one of ratedIn(store, projectId, types, span, budget))
      for (const { measure, span, values } of some) {
        const rating = getRating(measure, one);
        if (rating !== undefined && one.createdAt >= span[0] && one.createdAt < span[1]) values.add(rating);
      }
  }
};

/** What a look of an alert reads. */
export const getReads = (store: Store, projectId: ProjectId, alert: Alert, end: Micros) => {
  if (countsIssues(alert.metric)) return 'rollups' as const;
  const number = callNumber(alert.metric);
  if (!number) return 'feedback' as const;
  const source = chooseSource(
    store,
    projectId,
    toAsk(alert, number, toWindow(alert, end), () => cellFor(number)),
  );
  return source === 'rollups' ? source : ('calls' as const);
};
