import { dashboardClass } from '../../../api/shared/classes.ts';
import type { ObjectVersion } from '../../api/contract.ts';
import { isObject, nonEmptyString } from '../../data/values.ts';
import { type Dimension, dimensions, type Percentile, percentiles } from '../../navigation/search.ts';
import { type FigureMetric, figureMetrics, figureTitle } from '../figures/figures.ts';
import { fieldOf, getGrouping } from '../figures/requests.ts';
import { type Kept, type KeptFilter, toKept } from '../filters/kept-filter.ts';
import { parseScorePath, type Score, scoreText, toScorePath } from '../scores.ts';

/*
 * Dashboards: charts that a project keeps side by side, as the value of an object. What this page does not
 * understand of a chart, it leaves as it is.
 */

/** A chart as it is stored. */
export type StoredChart = Readonly<Record<string, unknown>>;

/** What a chart shows. */
export interface KeptChart extends Kept {
  /** @default - that of the metric */
  readonly title: string | undefined;
  readonly metric: FigureMetric | 'score';
  /** The score that it shows; undefined for other metrics. */
  readonly score: Score | undefined;
  /** @default - it is one line */
  readonly by: Dimension | undefined;
  /** The path of the score that it is grouped by. */
  readonly byScore: string | undefined;
  /** How it is drawn: counts as bars or lines, a score or its distribution. @default - as the metric is elsewhere */
  readonly kind: 'lines' | 'distribution' | undefined;
  /** What it shows of latencies. @default - p95 */
  readonly percentile: Percentile | undefined;
}

/** A dashboard, by its latest version. */
export interface Dashboard {
  readonly id: string;
  readonly digest: string;
  readonly name: string;
  readonly charts: readonly StoredChart[];
  /** Whether the project opens with it. */
  readonly isStart: boolean;
  readonly savedAt: string | undefined;
  /** The value of the object, with what the page does not know. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** The dashboard that a version of an object is; undefined if it is none. */
export const parseDashboard = ({ object_id: id, digest, val }: ObjectVersion): Dashboard | undefined => {
  if (!isObject(val) || val._type !== dashboardClass) return undefined;
  return {
    id,
    digest,
    name: nonEmptyString(val.name) ?? id,
    charts: Array.isArray(val.charts) ? val.charts.filter(isObject) : [],
    isStart: val.is_start === true,
    savedAt: nonEmptyString(val.saved_at),
    value: val,
  };
};

/** What changes of a dashboard. */
export type Draft = Pick<Dashboard, 'name' | 'charts' | 'isStart'>;

/** The value of a dashboard after changes. */
export const toValue = (before: Dashboard['value'], { name, charts, isStart }: Draft): StoredChart => {
  const { is_start: _start, ...rest } = before;
  return { ...rest, _type: dashboardClass, name, charts, ...(isStart && { is_start: true }) };
};

const scoreIn = (value: unknown): Score | undefined => {
  if (!isObject(value)) return undefined;
  const type = nonEmptyString(value.feedback_type);
  return type === undefined || type.includes(']')
    ? undefined
    : { type, field: nonEmptyString(value.path) ?? 'value' };
};

const toStored = ({ type, field }: Score) => ({ feedback_type: type, path: field });

/** The name of a dimension in requests. */
const nameOf = (by: Dimension): string => fieldOf(getGrouping(by)) ?? by;

const isQuery = (value: unknown): value is { readonly $expr: unknown } =>
  isObject(value) && value.$expr !== undefined;

/** What a stored chart shows; undefined for what another version of the page made. */
export const parseChart = (stored: StoredChart): KeptChart | undefined => {
  const metric = ([...figureMetrics, 'score'] as const).find((known) => known === stored.metric);
  const score = scoreIn(stored.score);
  const byScore = scoreIn(stored.group_by_feedback);
  const by = byScore
    ? 'score'
    : dimensions.find((dimension) => dimension !== 'score' && nameOf(dimension) === stored.group_by);
  if (!metric || (metric === 'score' && !score)) return undefined;
  if (stored.group_by !== undefined && by === undefined) return undefined;
  return {
    title: nonEmptyString(stored.title),
    metric,
    score: metric === 'score' ? score : undefined,
    by,
    byScore: byScore && toScorePath(byScore),
    kind: (['lines', 'distribution'] as const).find((known) => known === stored.kind),
    percentile: percentiles.find((known) => known === `p${stored.percentile}`),
    ...(isObject(stored.filter) && { filter: stored.filter }),
    ...(isQuery(stored.query) && { query: stored.query }),
  };
};

/** What a chart is called without a title of its own. */
export const titleOf = (
  { title, metric, score, by, kind, percentile }: KeptChart,
  /** What it shows instead of its own. @default - its own */
  shown: Percentile | undefined = percentile,
): string => {
  if (title !== undefined) return title;
  if (metric !== 'score') return figureTitle(metric, by !== undefined, shown);
  const name = score ? scoreText(score) : '';
  return kind === 'distribution' ? `Distribution of ${name}` : name;
};

/** What a stored chart is called, whether or not the page knows it. */
export const storedTitle = (stored: StoredChart): string => {
  const chart = parseChart(stored);
  return chart ? titleOf(chart) : (nonEmptyString(stored.title) ?? 'Unknown chart');
};

/** A chart that somebody looks at, to be kept. */
export interface ShownChart {
  readonly metric: KeptChart['metric'];
  readonly score?: Score | undefined;
  readonly by?: Dimension | undefined;
  readonly byScore?: string | undefined;
  readonly kind?: KeptChart['kind'];
  readonly percentile?: KeptChart['percentile'];
  /** The calls that it counts. @default - all; scores are those of all feedback */
  readonly calls?: (Omit<KeptFilter, 'others' | 'rest'> & Partial<KeptFilter>) | undefined;
}

/** A chart as it is kept. */
export const keepChart = (
  { metric, score, by, byScore, kind, percentile, calls }: ShownChart,
  title?: string,
): StoredChart => {
  const grouped = by === 'score' ? parseScorePath(byScore ?? '') : undefined;
  return {
    ...(title && { title }),
    metric,
    ...(score && { score: toStored(score) }),
    ...(calls && toKept({ others: [], rest: {}, ...calls })),
    ...(by && by !== 'score' && { group_by: nameOf(by) }),
    ...(grouped && { group_by_feedback: toStored(grouped) }),
    ...(kind && { kind }),
    ...(percentile && { percentile: Number(percentile.slice(1)) }),
  };
};

/** Whether a chart takes the place of two. */
export const isWide = ({ columns }: StoredChart): boolean => columns === 2;

/** A list with an item at another place. */
export const moved = <Item>(all: readonly Item[], from: number, to: number): readonly Item[] => {
  const item = all[from];
  if (item === undefined || to < 0 || to >= all.length) return all;
  return all.toSpliced(from, 1).toSpliced(to, 0, item);
};

/** A dashboard with one more chart at its end, or a new one of that name. */
export const withChart =
  (name: string, chart: StoredChart) =>
  (latest: Dashboard | undefined): Draft => ({
    name: latest?.name ?? name,
    charts: [...(latest?.charts ?? []), chart],
    isStart: latest?.isStart ?? false,
  });
