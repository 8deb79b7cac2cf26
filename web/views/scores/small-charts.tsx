import { percentText } from '../../calls/figures/figures.ts';
import { type Bin, type ScoreFigures, scoreLines, toBins } from '../../calls/figures/scores.ts';
import type { Line } from '../../ui/chart.tsx';

/* Charts that fit into a row of a table. They say nothing that the columns beside them do not: screen readers skip them. */

const width = 120;
const height = 24;

/** The line that tells the trend of a score: its mean, its share of true, or the share of its commonest label. */
const toTrend = (figures: ScoreFigures): Line['values'] => {
  const { lines, bars } = scoreLines(figures);
  const values = lines[0]?.values ?? [];
  return bars
    ? values.map((value, at) => {
        const { count = 0 } = figures.points[at] ?? {};
        return value === null || count === 0 ? null : value / count;
      })
    : values;
};

/** A score over time, without axes. Times without one are passed over. */
export const Trend = ({ figures }: { figures: ScoreFigures }) => {
  const values = toTrend(figures);
  const known = values.flatMap((value, at) => (value === null ? [] : [[at, value] as const]));
  if (known.length === 0) return null;
  const numbers = known.map(([, value]) => value);
  const isShare = figures.kind !== 'number';
  const low = isShare ? 0 : Math.min(...numbers);
  const high = isShare ? 1 : Math.max(...numbers);
  const x = (at: number) => 3 + (at * (width - 6)) / Math.max(1, values.length - 1);
  const y = (value: number) =>
    high === low ? height / 2 : height - 3 - ((value - low) / (high - low)) * (height - 6);
  const [lastAt, last] = known.at(-1) ?? [0, 0];
  return (
    <svg
      className="trend"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      aria-hidden="true"
    >
      <polyline points={known.map(([at, value]) => `${x(at)},${y(value)}`).join(' ')} />
      <circle cx={x(lastAt)} cy={y(last)} r="2.5" />
    </svg>
  );
};

/** How many labels have a part of their own. */
const maxParts = 5;

/** Which color a part of a distribution has. */
const colorOf = ({ kind }: ScoreFigures, { key }: Bin, at: number): string => {
  if (kind === 'truth') return key === 'true' ? '3' : 'rest';
  return key === undefined ? 'rest' : String(at + 1);
};

/** How the values of a score are spread: numbers as columns, others as parts of a bar. */
export const Spread = ({ figures }: { figures: ScoreFigures }) => {
  const bins = toBins(figures, undefined, maxParts);
  if (figures.kind === 'number') {
    const most = Math.max(1, ...bins.map(({ count }) => count));
    const step = width / Math.max(1, bins.length);
    return (
      <svg
        className="spread"
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        aria-hidden="true"
      >
        {bins.map(({ text, count }, at) => (
          <rect
            key={text}
            x={at * step + 1}
            width={Math.min(step - 2, 24)}
            y={height - Math.max(1, (count / most) * height)}
            height={Math.max(1, (count / most) * height)}
          />
        ))}
      </svg>
    );
  }
  return (
    <span
      className="parts"
      aria-hidden="true"
      title={bins.map(({ text, count }) => `${text} ${percentText(count / figures.count)}`).join(', ')}
    >
      {bins
        .filter(({ count }) => count > 0)
        .map((part, at) => (
          <span
            key={part.text}
            className={`series-${colorOf(figures, part, at)}`}
            style={{ flexGrow: part.count }}
          />
        ))}
    </span>
  );
};
