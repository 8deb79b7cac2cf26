import { Link, useNavigate } from '@tanstack/react-router';
import { BellPlus } from 'lucide-react';
import { type ComponentProps, Suspense, useMemo } from 'react';
import { countText, durationText, tokensText } from '../../data/format.ts';
import type { AlertsSearch, TracesSearch } from '../../navigation/search.ts';
import type { Line } from '../../ui/chart.tsx';
import { lazily } from '../../ui/lazy.ts';
import { useCostText } from '../prices.ts';
import { bucketText, type Figures, type Point, tickText } from './figures.ts';
import { type Counted, callsIn, failuresIn } from './requests.ts';

/**
 * Gives the browser the language `en` if the one that it has is none, such as `en-US@posix`. The
 * library of charts takes it for its numbers as it loads, and would fail.
 */
const ensureValidLanguage = (): void => {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
  }
};

const LoadedChart = lazily(() => {
  ensureValidLanguage();
  return import('../../ui/chart.tsx');
}, 'Chart');

/** A chart over time, which loads with the first. */
export const Chart = (props: ComponentProps<typeof LoadedChart>) => (
  <Suspense fallback={<div className="chart" />}>
    <LoadedChart {...props} />
  </Suspense>
);

/** The names of lines, with their colors, in one line. */
export const Legend = ({ lines }: { lines: readonly Line[] }) => (
  <ul className="legend">
    {lines.map((line) => (
      <li key={line.label}>
        <span className={`swatch series-${line.color}`} aria-hidden="true" />
        <span className="cut" dir="auto">
          {line.label}
        </span>
      </li>
    ))}
  </ul>
);

interface MetricChartProps {
  readonly title: string;
  /** The alert that is begun here. @default - none */
  readonly alert?: AlertsSearch;
  readonly points: readonly Pick<Point, 'from' | 'to'>[];
  readonly lines: readonly Line[];
  readonly bars: boolean;
  /** Seconds of a bucket. */
  readonly granularity: number;
  readonly text: (value: number) => string;
  /** The calls behind a point. @default - a point leads nowhere */
  readonly getLink?: (point: Pick<Point, 'from' | 'to'>) => TracesSearch;
  /** Called with the times between which somebody dragged. @default - nobody can */
  readonly onZoom?: (from: number, to: number) => void;
  /** Charts of the same name show the same time under the pointer. @default - it is alone */
  readonly sync?: string;
}

/** What a chart shows, for whoever does not see it. The table of values has the rest. */
const describeChart = ({ title, lines, text }: MetricChartProps): string => {
  const parts = lines.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    return `${label}: ${known.length === 0 ? 'none' : `at most ${text(Math.max(...known))}`}`;
  });
  return `${title} over time. ${parts.join('; ')}`;
};

/** A figure over time. A click on a point lists its calls. */
export const MetricChart = (props: MetricChartProps) => {
  const { title, alert, points, lines, bars, granularity, text, getLink, onZoom, sync } = props;
  const navigate = useNavigate();
  const times = useMemo(() => points.map(({ from, to }) => (from + to) / 2), [points]);
  const isEmpty = lines.every(({ values }) => values.every((value) => value === null || value === 0));
  return (
    <section className="card metric" aria-label={title}>
      <div className="metric-head">
        <h2>{title}</h2>
        {lines.length > 1 ? <Legend lines={lines} /> : null}
        {alert ? (
          <Link
            to="/alerts"
            search={alert}
            className="button quiet icon"
            aria-label={`Create alert on ${title}`}
            title={`Create alert on ${title}`}
          >
            <BellPlus />
          </Link>
        ) : null}
      </div>
      {isEmpty ? (
        <p className="muted chart-empty">none in this period</p>
      ) : (
        <Chart
          name={describeChart(props)}
          times={times}
          span={[points[0]?.from ?? 0, points.at(-1)?.to ?? 0]}
          lines={lines}
          bars={bars}
          timeText={(ms) => tickText(ms, granularity)}
          valueText={text}
          pointText={(index) => {
            const point = points[index];
            return point ? bucketText(point) : '';
          }}
          pickText={getLink && 'click to see its calls'}
          onPick={(index) => {
            const picked = points[index];
            if (picked && getLink) navigate({ to: '/traces', search: getLink(picked) });
          }}
          onZoom={onZoom}
          sync={sync}
        />
      )}
    </section>
  );
};

/** How many groups have a line of their own. */
const maxLines = 5;

type Read = (figures: Figures) => number | undefined;

const colors = [1, 2, 3, 4, 5] as const;

/** The groups, the most often called first. A group has one color everywhere. */
const rankGroups = (points: readonly Point[]): ReadonlyMap<string, number> => {
  const calls = new Map<string, number>();
  for (const { groups } of points)
    for (const [group, figures] of groups) calls.set(group, (calls.get(group) ?? 0) + figures.calls);
  return new Map([...calls].sort(([, a], [, b]) => b - a).map(([group], rank) => [group, rank]));
};

/** Which groups have lines, in what colors, and what they are called. */
interface Grouping {
  readonly points: readonly Point[];
  readonly ranks: ReadonlyMap<string, number>;
  readonly getText: (group: string) => string;
}

/**
 * The groups with most of a figure, each as a line.
 *
 * @param none what a group has where it was not called
 */
const groupLines = ({ points, ranks, getText }: Grouping, read: Read, none: 0 | null): Line[] => {
  const sums = new Map<string, number>();
  for (const { groups } of points)
    for (const [group, figures] of groups) sums.set(group, (sums.get(group) ?? 0) + (read(figures) ?? 0));
  const largest = [...sums]
    .filter(([, value]) => value > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, maxLines);
  const free = new Set<(typeof colors)[number]>(colors);
  const getColor = (group: string) => {
    const wanted = colors[(ranks.get(group) ?? 0) % colors.length] ?? 1;
    const [other = wanted] = free;
    const color = free.has(wanted) ? wanted : other;
    free.delete(color);
    return color;
  };
  return largest.map(([group]) => ({
    label: getText(group),
    color: getColor(group),
    values: points.map(({ groups }) => {
      const figures = groups.get(group);
      return figures ? (read(figures) ?? null) : none;
    }),
  }));
};

/** The groups with most of a figure, and all others together: they add up to the whole. */
const partLines = (grouping: Grouping, read: Read): Line[] => {
  const lines = groupLines(grouping, read, 0);
  const rest = grouping.points.map((point, at) => {
    const shown = lines.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);
    // Fractions do not add up exactly.
    const left = (read(point) ?? 0) - shown;
    return left > 1e-9 ? left : 0;
  });
  return rest.some((value) => value > 0)
    ? [...lines, { label: 'all others', color: 'rest', values: rest }]
    : lines;
};

const wholeLine = (points: readonly Point[], label: string, color: Line['color'], read: Read): Line => ({
  label,
  color,
  values: points.map((point) => read(point) ?? null),
});

/** A tick of what is counted: there is no half of a call. */
const wholeText = (value: number): string => (Number.isInteger(value) ? countText(value) : '');

interface ChartsProps {
  readonly counted: Counted;
  readonly points: readonly Point[];
  readonly granularity: number;
  /** Whether the largest groups have lines of their own. */
  readonly split: boolean;
  /** Whether groups have errors and latencies. */
  readonly whole: boolean;
  readonly getText: (group: string) => string;
  /** Called with the times between which somebody dragged. */
  readonly onZoom: (from: number, to: number) => void;
}

/** The figures over time. */
export const Charts = (props: ChartsProps) => {
  const { counted, points, granularity, split, whole, getText, onZoom } = props;
  const lines = useMemo(() => {
    const grouping = { points, ranks: rankGroups(points), getText };
    const makeLines = (title: string, color: Line['color'], read: Read): Line[] =>
      split ? partLines(grouping, read) : [wholeLine(points, title, color, read)];
    const ofWhole = (title: string, color: Line['color'], read: Read): Line[] =>
      whole ? makeLines(title, color, read) : [wholeLine(points, title, color, read)];
    return {
      calls: makeLines('calls', 1, ({ calls }) => calls),
      errors: ofWhole('errors', 'error', ({ errors }) => errors),
      latency:
        split && whole
          ? groupLines(grouping, ({ p95 }) => p95, null)
          : [wholeLine(points, 'p50', 2, ({ p50 }) => p50), wholeLine(points, 'p95', 1, ({ p95 }) => p95)],
      tokens: makeLines('tokens', 1, ({ tokens }) => tokens),
      cost: makeLines('cost', 1, ({ cost }) => cost),
    };
  }, [points, split, whole, getText]);
  const getLink = ({ from, to }: Pick<Point, 'from' | 'to'>) => callsIn(counted, { start: from, end: to });
  const alertOn = (metric: string): AlertsSearch => ({ ...counted, form: true, metric });
  const shared = {
    points,
    granularity,
    getLink,
    onZoom,
    sync: counted.project,
  };
  const costText = useCostText(counted.project);
  return (
    <>
      <MetricChart
        {...shared}
        title="Calls"
        alert={alertOn('call_count.sum')}
        lines={lines.calls}
        bars
        text={wholeText}
      />
      <MetricChart
        {...shared}
        title="Errors"
        alert={alertOn('error_count.avg')}
        lines={lines.errors}
        bars
        text={wholeText}
        getLink={({ from, to }) => failuresIn(counted, { start: from, end: to })}
      />
      <MetricChart
        {...shared}
        title={split && whole ? 'p95 latency' : 'Latency'}
        alert={alertOn('latency_ms.p95')}
        lines={lines.latency}
        bars={false}
        text={durationText}
        getLink={(point) => ({ ...getLink(point), sort: '-summary.svc.latency_ms' })}
      />
      <MetricChart
        {...shared}
        title="Tokens"
        alert={alertOn('total_tokens.sum')}
        lines={lines.tokens}
        bars
        text={tokensText}
      />
      <MetricChart
        {...shared}
        title="Cost"
        alert={alertOn('total_cost.sum')}
        lines={lines.cost}
        bars
        text={costText}
      />
    </>
  );
};
