import { useMemo } from 'react';
import {
  type KeptChart,
  parseChart,
  type StoredChart,
  storedTitle,
  titleOf,
} from '../../calls/dashboards/dashboard.ts';
import { ChartSkeleton, EmptyChart, FigureChart, groupText, isOfCalls } from '../../calls/figures/charts.tsx';
import { type FigureMetric, toPoints, withModelCalls } from '../../calls/figures/figures.ts';
import { maxRead, useKeptStats, useMayRead, useScore, useStats } from '../../calls/figures/read.ts';
import {
  type Counted,
  fieldOf,
  figuresRequest,
  getGrouping,
  isRead,
  modelCallsRequest,
  type Period,
  type Selection,
} from '../../calls/figures/requests.ts';
import { anyCall, ScoreChart } from '../../calls/figures/score-chart.tsx';
import { toFilter } from '../../calls/filters/kept-filter.ts';
import type { Score } from '../../calls/scores.ts';
import { countText } from '../../data/format.ts';
import type { Percentile } from '../../navigation/search.ts';
import { Failure } from '../../ui/controls.tsx';

interface CardProps {
  readonly project: string;
  readonly period: Period;
  readonly onZoom: ((from: number, to: number) => void) | undefined;
  /** What it shows of latencies. @default - what it was kept with */
  readonly percentile?: Percentile | undefined;
  /** Chooses that. @default - nobody can */
  readonly onPercentile?: ((percentile: Percentile) => void) | undefined;
}

type ChartProps = CardProps & { readonly chart: KeptChart };

/** The calls of a chart, for requests. */
const toSelection = (project: string, { filter, query }: KeptChart): Selection =>
  ({ project_id: project, ...(filter && { filter }), ...(query && { query }) }) as Selection;

/** The calls of a chart, for the list; undefined if it has no words for them. */
const toCounted = (project: string, chart: KeptChart): Counted | undefined => {
  const { others, rest, feedback, ...calls } = toFilter(chart);
  const isWhole = others.length === 0 && Object.keys(rest).length === 0 && feedback === undefined;
  return isWhole ? { project, ...calls } : undefined;
};

/** What stands in the place of a chart that has no answer. */
const Missing = (props: {
  title: string;
  may: ReturnType<typeof useMayRead>;
  error: unknown;
  retry: () => unknown;
}) => {
  const { title, may, error, retry } = props;
  if (error)
    return (
      <EmptyChart title={title}>
        <Failure error={error} onRetry={retry} />
      </EmptyChart>
    );
  if (may.tooMany !== undefined)
    return (
      <EmptyChart title={title}>
        <p className="muted chart-empty">
          This chart is counted from the calls themselves, up to {countText(maxRead)} of them; this time has{' '}
          {countText(may.tooMany)}. Choose a shorter time.
        </p>
      </EmptyChart>
    );
  return <ChartSkeleton title={title} />;
};

/** A figure of calls. */
const FigureCard = (props: ChartProps & { metric: FigureMetric }) => {
  const { project, period, chart, onZoom, metric, percentile = chart.percentile, onPercentile } = props;
  const { by, byScore, kind } = chart;
  const title = titleOf(chart, percentile);
  const selection = useMemo(() => toSelection(project, chart), [project, chart]);
  const counted = useMemo(() => toCounted(project, chart), [project, chart]);
  const grouping = getGrouping(by, byScore);
  const ofModels = by === 'model' && isOfCalls(metric);
  const may = useMayRead(selection, period, isRead(grouping) || ofModels);
  const series = useKeptStats(
    figuresRequest(selection, period, period.granularity, grouping),
    may.may,
    may.tooMany !== undefined,
  );
  const models = useStats(modelCallsRequest(selection, period, period.granularity), {
    enabled: ofModels && may.may,
  });
  const field = fieldOf(grouping);
  const points = useMemo(
    () => series.data && toPoints(withModelCalls(series.data, models.data), period, field),
    [series.data, models.data, period, field],
  );
  const getText = useMemo(
    () => groupText(by ?? 'op', points?.flatMap(({ groups }) => [...groups.keys()]) ?? []),
    [by, points],
  );
  if (!points) {
    const retry = () => (may.error ? may.refetch() : series.refetch());
    return <Missing title={title} may={may} error={may.error ?? series.error} retry={retry} />;
  }
  return (
    <FigureChart
      metric={metric}
      counted={counted}
      project={project}
      points={points}
      granularity={period.granularity}
      split={by !== undefined}
      whole={!ofModels || models.data !== undefined}
      getText={getText}
      title={title}
      asLines={kind === 'lines'}
      onZoom={onZoom}
      percentile={percentile}
      onPercentile={onPercentile}
    />
  );
};

/** A score, of all feedback or of the calls of the chart. */
const ScoreCard = ({ project, period, chart, onZoom, score }: ChartProps & { score: Score }) => {
  const title = titleOf(chart);
  const isFiltered = chart.filter !== undefined || chart.query !== undefined;
  const selection = useMemo(() => toSelection(project, chart), [project, chart]);
  const may = useMayRead(isFiltered ? selection : { project_id: project }, period, isFiltered);
  const query = useScore(project, period, score, isFiltered ? selection : undefined, may.may);
  const counted = useMemo(
    () => (isFiltered ? toCounted(project, chart) : anyCall(project)),
    [isFiltered, project, chart],
  );
  if (query.data === null) return <EmptyChart title={title} />;
  if (!query.data) {
    const retry = () => (may.error ? may.refetch() : query.refetch());
    return <Missing title={title} may={may} error={may.error ?? query.error} retry={retry} />;
  }
  return (
    <ScoreChart
      figures={query.data}
      project={project}
      granularity={period.granularity}
      counted={counted}
      isSpread={chart.kind === 'distribution'}
      title={title}
      onZoom={onZoom}
    />
  );
};

/** A chart of a dashboard, which asks for what it shows. */
export const ChartCard = ({ stored, ...props }: CardProps & { readonly stored: StoredChart }) => {
  const chart = useMemo(() => parseChart(stored), [stored]);
  if (!chart)
    return (
      <EmptyChart title={storedTitle(stored)}>
        <p className="muted chart-empty">This version of the page cannot draw this chart.</p>
      </EmptyChart>
    );
  const { metric, score } = chart;
  if (metric !== 'score') return <FigureCard {...props} chart={chart} metric={metric} />;
  return score ? <ScoreCard {...props} chart={chart} score={score} /> : null;
};
