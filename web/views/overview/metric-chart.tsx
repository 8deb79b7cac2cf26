import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Chart, type Line } from '../../ui/chart.tsx';
import type { TracesSearch } from '../traces/search.ts';
import type { Point } from './series.ts';
import { bucketText, tickText } from './texts.ts';

interface MetricChartProps {
  readonly title: string;
  readonly points: readonly Point[];
  readonly lines: readonly Line[];
  readonly bars: boolean;
  /** Seconds of a bucket. */
  readonly granularity: number;
  readonly text: (value: number) => string;
  /** The calls behind a point. */
  readonly linkOf: (point: Point) => TracesSearch;
}

/** What a chart shows, for whoever does not see it. The table of values has the rest. */
const nameOf = ({ title, lines, text }: MetricChartProps): string => {
  const parts = lines.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    return `${label}: ${known.length === 0 ? 'none' : `at most ${text(Math.max(...known))}`}`;
  });
  return `${title} over time. ${parts.join('; ')}`;
};

/** A figure over time. A click on a point lists its calls. */
export const MetricChart = (props: MetricChartProps) => {
  const { title, points, lines, bars, granularity, text, linkOf } = props;
  const navigate = useNavigate();
  const [at, setAt] = useState<number>();
  const times = useMemo(() => points.map(({ from, to }) => (from + to) / 2), [points]);
  const point = at === undefined ? undefined : points[at];
  const isEmpty = lines.every(({ values }) => values.every((value) => value === null || value === 0));
  return (
    <section className="card metric" aria-label={title}>
      <div className="metric-head">
        <h2>{title}</h2>
        <ul className="legend">
          {lines.map(({ label, values, color }) => {
            const value = at === undefined ? undefined : values[at];
            return (
              <li key={label}>
                <span className={`swatch series-${color}`} aria-hidden="true" />
                <span className="cut" dir="auto">
                  {label}
                </span>
                {typeof value === 'number' ? <strong>{text(value)}</strong> : null}
              </li>
            );
          })}
        </ul>
      </div>
      {isEmpty ? (
        <p className="muted chart-empty">none in this time</p>
      ) : (
        <Chart
          name={nameOf(props)}
          times={times}
          span={[points[0]?.from ?? 0, points.at(-1)?.to ?? 0]}
          lines={lines}
          bars={bars}
          timeText={(ms) => tickText(ms, granularity)}
          valueText={text}
          onPoint={setAt}
          onPick={(index) => {
            const picked = points[index];
            if (picked) navigate({ to: '/traces', search: linkOf(picked) });
          }}
        />
      )}
      {point ? (
        <p className="muted metric-foot" aria-hidden="true">
          {bucketText(point)} · click for its calls
        </p>
      ) : null}
    </section>
  );
};
