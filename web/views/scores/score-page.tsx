import { Link } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { useMemo } from 'react';
import { CallLink } from '../../calls/call-link.tsx';
import { KeepButton } from '../../calls/dashboards/keep-button.tsx';
import { ChartSkeleton, MetricChart } from '../../calls/figures/charts.tsx';
import { percentText } from '../../calls/figures/figures.ts';
import { useScore, useSpread } from '../../calls/figures/read.ts';
import { callsIn, type Period } from '../../calls/figures/requests.ts';
import { anyCall, callsWith, ScoreChart } from '../../calls/figures/score-chart.tsx';
import {
  type Bin,
  countLine,
  needsSpread,
  resultText,
  type ScoreFigures,
  scoreValueText,
  spreadIn,
  toBins,
} from '../../calls/figures/scores.ts';
import { type Score, scoreText, toScorePath } from '../../calls/scores.ts';
import { countedText, countText } from '../../data/format.ts';
import type { TracesSearch } from '../../navigation/search.ts';
import { Empty, Moment, QueryStatus, ScrollTable, type TableColumn } from '../../ui/controls.tsx';
import { listedRecords, type ScoredCall, useLowest } from './data.ts';

/** The calls of a part of a distribution. */
const callsOf = (
  project: string,
  period: Period,
  figures: ScoreFigures,
  bin: Bin,
): TracesSearch | undefined => {
  const counted = anyCall(project);
  if (bin.key !== undefined) return callsWith(counted, period, figures, bin.key);
  const { from, to } = bin;
  if (from === undefined || to === undefined) return undefined;
  const path = toScorePath(figures.score);
  // The list has no word for "at least": what lies at the edges is a little more.
  const slack = (to - from) * 1e-9;
  const isLast = to === figures.most;
  return {
    ...callsIn(counted, period),
    where: [
      { path, op: 'above', value: String(from - slack) },
      { path, op: 'below', value: String(isLast ? to + slack : to) },
    ],
    sort: path,
  };
};

interface PartProps {
  readonly project: string;
  readonly period: Period;
  readonly figures: ScoreFigures;
}

/** How often each value was given. A click lists the calls with it. */
const Distribution = ({ project, period, figures }: PartProps) => {
  const isSpread = needsSpread(figures);
  const { data } = useSpread(project, period, figures.score, isSpread);
  const bins = useMemo(() => toBins(figures, data && spreadIn(data)), [figures, data]);
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const { kind, least, most: highest, count } = figures;
  const text = scoreValueText(kind);
  return (
    <section className="card metric" aria-label="Distribution">
      <div className="metric-head">
        <h2>Distribution</h2>
      </div>
      {kind === 'number' && least !== undefined && highest !== undefined ? (
        <p className="hint">
          From {text(least)} to {text(highest)}
          {isSpread ? '. Counts are worked out from percentiles.' : ''}
        </p>
      ) : null}
      <ul className="distribution bins">
        {bins.map((bin) => {
          const link = callsOf(project, period, figures, bin);
          const name = (
            <span className="cut" dir="auto">
              {bin.text}
            </span>
          );
          return (
            <li key={bin.text}>
              {link && bin.count > 0 ? (
                <Link to="/traces" search={link} className="button quiet">
                  {name}
                </Link>
              ) : (
                <span className="button quiet">{name}</span>
              )}
              <span className="bar-of" aria-hidden="true">
                <span style={{ inlineSize: `${(100 * bin.count) / most}%` }} />
              </span>
              <span className="numeric">
                {countText(bin.count)} · {percentText(count === 0 ? 0 : bin.count / count)}
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
};

const makeColumns = (
  figures: ScoreFigures,
  rows: readonly ScoredCall[],
): readonly TableColumn<ScoredCall>[] => [
  {
    title: 'Call',
    className: 'break',
    cell: ({ call, callId }) =>
      call ? <CallLink call={call} /> : <span className="muted">{callId ?? 'no call'}</span>,
  },
  {
    title: 'Value',
    className: figures.kind === 'number' ? 'numeric' : 'break',
    cell: ({ value }) => (
      <strong>{typeof value === 'number' ? scoreValueText('number')(value) : String(value)}</strong>
    ),
  },
  ...(rows.some(({ why }) => why !== undefined)
    ? [{ title: 'Why', className: 'break' as const, cell: ({ why }: ScoredCall) => why }]
    : []),
  { title: 'By', cell: ({ by }) => by },
  { title: 'When', cell: ({ at }) => <Moment time={at} /> },
];

/** The calls with the lowest values, or the latest where values have no order. */
const Lowest = ({ project, period, figures }: PartProps) => {
  const isSorted = figures.kind !== 'label';
  const query = useLowest(project, period, figures.score, isSorted);
  const title = isSorted ? 'Lowest values' : 'Latest values';
  return (
    <div className="chart-group">
      <div className="row-between">
        <h2>{title}</h2>
        <Link to="/traces" search={callsWith(anyCall(project), period, figures)}>
          All calls with this score
        </Link>
      </div>
      <QueryStatus queries={[query]} loading="Loading the calls…" />
      {query.data ? (
        <ScrollTable
          label={title}
          columns={makeColumns(figures, query.data)}
          rows={query.data}
          getKey={({ id }) => id}
        />
      ) : null}
      {query.data?.length === listedRecords ? (
        <p className="hint">The first {listedRecords} are shown.</p>
      ) : null}
    </div>
  );
};

interface ScorePageProps {
  readonly project: string;
  readonly period: Period;
  readonly score: Score;
  /** The object of the evaluator that gives it, if one does. */
  readonly evaluator: string | undefined;
  readonly onZoom: (from: number, to: number) => void;
}

/** One score: over time, how its values are spread, and the calls with the lowest. */
export const ScorePage = ({ project, period, score, evaluator, onZoom }: ScorePageProps) => {
  const query = useScore(project, period, score);
  const figures = query.data;
  const { granularity } = period;
  const counted = useMemo(() => anyCall(project), [project]);
  const name = scoreText(score);
  const charts = { project, granularity, counted, onZoom };
  if (figures === null)
    return (
      <Empty icon={Gauge} title={`No ${name} in this time`}>
        No feedback of the type {score.type} has a value at <code>{score.field}</code>. Choose a longer time.
      </Empty>
    );
  if (!figures)
    return query.error ? (
      <QueryStatus queries={[query]} />
    ) : (
      <div className="score-charts">
        {['Score over time', 'Distribution over time', 'Distribution', 'Scores given'].map((title) => (
          <ChartSkeleton key={title} title={title} />
        ))}
      </div>
    );
  return (
    <>
      <p className="score-about">
        <strong>{resultText(figures)}</strong>{' '}
        <span className="muted">of {countedText(figures.count, 'score')}</span>
        {evaluator === undefined ? null : (
          <Link to="/evaluators" search={{ project, evaluator }}>
            Open the evaluator
          </Link>
        )}
      </p>
      <div className="score-charts">
        <ScoreChart
          {...charts}
          figures={figures}
          title="Score over time"
          tools={<KeepButton project={project} title={name} chart={{ metric: 'score', score }} />}
        />
        <ScoreChart
          {...charts}
          figures={figures}
          isSpread
          title="Distribution over time"
          tools={
            <KeepButton
              project={project}
              title={`Distribution of ${name}`}
              chart={{ metric: 'score', score, kind: 'distribution' }}
            />
          }
        />
        <Distribution project={project} period={period} figures={figures} />
        <MetricChart
          title="Scores given"
          points={figures.points}
          granularity={granularity}
          lines={[countLine(figures)]}
          bars
          text={(value) => (Number.isInteger(value) ? countText(value) : '')}
          getLink={(point) => callsWith(counted, { start: point.from, end: point.to }, figures)}
          onZoom={onZoom}
          sync={project}
        />
      </div>
      <Lowest project={project} period={period} figures={figures} />
    </>
  );
};
