import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Chart, Legend } from '../../calls/figures/charts.tsx';
import { clockText, dayText, momentText } from '../../data/format.ts';
import type { Line } from '../../ui/chart.tsx';
import type { Run } from './data.ts';
import { scoreText } from './words.ts';

/** How many datasets have a line of their own, and how many scores a chart. */
const maxLines = 5;
const maxCharts = 6;

/** The least that a chart is wide, in ms: a single evaluation stands in the middle. */
const minSpan = 3_600_000;

const getDataset = ({ dataset }: Run): string => dataset?.name ?? 'no dataset';

/** The datasets with most evaluations. */
const listDatasets = (runs: readonly Run[]): string[] =>
  [...Map.groupBy(runs, getDataset)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .slice(0, maxLines)
    .map(([name]) => name);

interface ScoreChartProps {
  readonly project: string;
  readonly score: string;
  /** Evaluations with this score, the oldest first. */
  readonly runs: readonly Run[];
}

/** A score over time: a line for each dataset. A click opens the evaluation. */
const ScoreChart = ({ project, score, runs }: ScoreChartProps) => {
  const navigate = useNavigate();
  const times = useMemo(() => runs.map(({ startedAt }) => Date.parse(startedAt)), [runs]);
  const lines = useMemo(
    () =>
      listDatasets(runs).map(
        (name, rank): Line => ({
          label: name,
          color: rank + 1,
          values: runs.map((run) => (getDataset(run) === name ? (run.means.get(score) ?? null) : null)),
        }),
      ),
    [runs, score],
  );
  const first = times[0] ?? 0;
  const last = times.at(-1) ?? 0;
  const margin = Math.max(minSpan - (last - first), (last - first) * 0.1) / 2;
  const isOfDays = last - first > 2 * 86_400_000;
  return (
    <section className="card metric" aria-label={`${score} over time`}>
      <div className="metric-head">
        <h2 className="cut" dir="auto">
          {score}
        </h2>
        <Legend lines={lines} place="beside" />
      </div>
      <Chart
        name={`${score} of ${runs.length} evaluations over time. The table has the values.`}
        times={times}
        span={[first - margin, last + margin]}
        lines={lines}
        bars={false}
        sparse
        timeText={isOfDays ? dayText : clockText}
        valueText={scoreText}
        pointText={(index) => {
          const run = runs[index];
          return run ? `${run.model?.name ?? run.name} · ${momentText(run.startedAt)}` : '';
        }}
        pickText="click to open it"
        onPick={(index) => {
          const picked = runs[index];
          if (picked) navigate({ to: '/evaluation', search: { project, runs: [picked.id] } });
        }}
      />
      <Legend lines={lines} place="below" />
    </section>
  );
};

interface ScoreChartsProps {
  readonly project: string;
  readonly scores: readonly string[];
  /** The newest first. */
  readonly runs: readonly Run[];
}

/** The scores over time, those that most evaluations have first. */
export const ScoreCharts = ({ project, scores, runs }: ScoreChartsProps) => {
  const charts = useMemo(
    () =>
      scores
        .slice(0, maxCharts)
        .map((score) => ({ score, scoredRuns: runs.filter(({ means }) => means.has(score)).toReversed() })),
    [scores, runs],
  );
  return (
    <div className="charts">
      {charts.map(({ score, scoredRuns }) => (
        <ScoreChart key={score} project={project} score={score} runs={scoredRuns} />
      ))}
    </div>
  );
};
