import { Link, useNavigate } from '@tanstack/react-router';
import { BellPlus, ChevronDown } from 'lucide-react';
import { type ComponentProps, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { opTexts } from '../../api/calls.ts';
import { kindTexts } from '../../api/kind.ts';
import { countText, durationText, tokensText } from '../../data/format.ts';
import {
  type AlertsSearch,
  type Dimension,
  type Percentile,
  percentiles,
  type TracesSearch,
} from '../../navigation/search.ts';
import type { Line } from '../../ui/chart.tsx';
import { lazily } from '../../ui/lazy.ts';
import { Menu } from '../../ui/popups.tsx';
import { useCostText } from '../prices.ts';
import {
  bucketText,
  type FigureMetric,
  type Figures,
  figureTitle,
  type Point,
  tickText,
  usualPercentile,
} from './figures.ts';
import { type Counted, callsIn, failuresIn } from './requests.ts';
import { valueText } from './scores.ts';

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

interface LegendProps {
  readonly lines: readonly Line[];
  readonly place: 'beside' | 'below';
  /** Whether the lines are groups, as in the charts beside it: they stand below, however few. @default false */
  readonly isSplit?: boolean | undefined;
}

/** The names of lines, with their colors: two have room beside the title of a chart, and more stand below it. */
export const Legend = ({ lines, place, isSplit = false }: LegendProps) =>
  lines.length > (isSplit ? 0 : 1) && (isSplit || lines.length > 2) === (place === 'below') ? (
    <ul className={`legend ${place}`}>
      {lines.map((line) => (
        <li key={line.label}>
          <span className={`swatch series-${line.color}`} aria-hidden="true" />
          <span className="cut" dir="auto">
            {line.label}
          </span>
        </li>
      ))}
    </ul>
  ) : null;

interface MetricChartProps {
  readonly title: string;
  /** The alert that is begun here. @default - none */
  readonly alert?: AlertsSearch | undefined;
  /** What else can be done with it. @default - nothing */
  readonly tools?: ReactNode;
  readonly points: readonly Pick<Point, 'from' | 'to'>[];
  readonly lines: readonly Line[];
  /** Whether the lines are groups. @default false */
  readonly isSplit?: boolean | undefined;
  readonly bars: boolean;
  /** Seconds of a bucket. */
  readonly granularity: number;
  readonly text: (value: number) => string;
  /** The calls behind a point. @default - a point leads nowhere */
  readonly getLink?: ((point: Pick<Point, 'from' | 'to'>) => TracesSearch) | undefined;
  /** Called with the times between which somebody dragged. @default - nobody can */
  readonly onZoom?: ((from: number, to: number) => void) | undefined;
  /** Charts of the same name show the same time under the pointer. @default - it is alone */
  readonly sync?: string | undefined;
}

/** What a chart shows, for whoever does not see it. The table of values has the rest. */
const describeChart = ({ title, lines, text }: MetricChartProps): string => {
  const parts = lines.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    return `${label}: ${known.length === 0 ? 'none' : `at most ${text(Math.max(...known))}`}`;
  });
  return `${title.replace(/ over time$/, '')} over time. ${parts.join('; ')}`;
};

/** A figure over time. A click on a point lists its calls. */
export const MetricChart = (props: MetricChartProps) => {
  const { title, alert, tools, points, lines, isSplit, bars, granularity, text, getLink, onZoom, sync } =
    props;
  const navigate = useNavigate();
  const times = useMemo(() => points.map(({ from, to }) => (from + to) / 2), [points]);
  const isEmpty = lines.every(({ values }) => values.every((value) => value === null || value === 0));
  return (
    <section className="card metric" aria-label={title}>
      <div className="metric-head">
        <h2>{title}</h2>
        <Legend lines={lines} place="beside" isSplit={isSplit} />
        {alert || tools ? (
          <span className="metric-tools">
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
            {tools}
          </span>
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
      <Legend lines={lines} place="below" isSplit={isSplit} />
    </section>
  );
};

/** What figures can be grouped by, in words. */
export const dimensionTitles: Readonly<Record<Dimension, string>> = {
  op: 'Operations',
  kind: 'Kinds',
  model: 'Models',
  tool: 'Tools',
  agent: 'Agents',
  prompt: 'Prompts',
  user: 'Users',
  'end-user': 'End users',
  environment: 'Environments',
  release: 'Releases',
  source: 'Sources',
  score: 'Scores',
};

/** Kinds in words. Clients may say others. */
const textsOfKinds: ReadonlyMap<string, string> = new Map(Object.entries(kindTexts));

/** The words for groups of a dimension, of which these are all that there are. */
export const groupText = (by: Dimension, groups: readonly string[]): ((group: string) => string) => {
  const texts = by === 'op' ? opTexts(groups) : by === 'kind' ? textsOfKinds : undefined;
  return (group) => (by === 'score' ? valueText(group) : (texts?.get(group) ?? group));
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

/** How a figure is drawn. */
interface FigureLook {
  readonly color: Line['color'];
  readonly read: Read;
  /** What an alert on it begins with. */
  readonly alert: string;
  /** Without one, it is a cost. */
  readonly text?: (value: number) => string;
}

const looks: Readonly<Record<FigureMetric, FigureLook>> = {
  call_count: {
    color: 1,
    read: ({ calls }) => calls,
    alert: 'call_count.sum',
    text: wholeText,
  },
  error_count: {
    color: 'error',
    read: ({ errors }) => errors,
    alert: 'error_count.avg',
    text: wholeText,
  },
  latency_ms: {
    color: 1,
    read: (figures) => figures[usualPercentile],
    alert: `latency_ms.${usualPercentile}`,
    text: durationText,
  },
  total_tokens: {
    color: 1,
    read: ({ tokens }) => tokens,
    alert: 'total_tokens.sum',
    text: tokensText,
  },
  total_cost: { color: 1, read: ({ cost }) => cost, alert: 'total_cost.sum' },
};

/** Whether groups of models have this figure only if the calls are read for it. */
export const isOfCalls = (metric: FigureMetric): boolean =>
  metric === 'error_count' || metric === 'latency_ms';

export interface FigureChartProps extends Pick<MetricChartProps, 'granularity' | 'onZoom' | 'tools'> {
  readonly metric: FigureMetric;
  /** The calls that it counts; undefined if the list has no words for them. */
  readonly counted: Counted | undefined;
  readonly project: string;
  readonly points: readonly Point[];
  /** Whether the largest groups have lines of their own. */
  readonly split: boolean;
  /** Whether groups have errors and latencies. */
  readonly whole: boolean;
  readonly getText: (group: string) => string;
  /** @default - that of the figure */
  readonly title?: string | undefined;
  /** Whether what is counted is lines and not bars. @default false */
  readonly asLines?: boolean;
  /** Whether an alert can be begun with it. @default false */
  readonly canAlert?: boolean;
  /** What it shows of latencies, beside the median. @default p95 */
  readonly percentile?: Percentile | undefined;
  /** Chooses that. @default - nobody can */
  readonly onPercentile?: ((percentile: Percentile) => void) | undefined;
}

type PercentileMenuProps = Required<Pick<FigureChartProps, 'percentile' | 'onPercentile'>>;

/** Chooses what a chart of latencies shows. */
const PercentileMenu = ({ percentile = usualPercentile, onPercentile }: PercentileMenuProps) => (
  <Menu
    className="button quiet percentile"
    name={`Percentile: ${percentile}`}
    label={
      <>
        {percentile} <ChevronDown />
      </>
    }
    items={percentiles.map((other) => ({
      label: other,
      checked: other === percentile,
      onSelect: () => onPercentile?.(other),
    }))}
  />
);

/** A figure over time. */
export const FigureChart = (props: FigureChartProps) => {
  const { metric, counted, project, points, split, whole, getText, canAlert = false, onPercentile } = props;
  const { percentile = usualPercentile } = props;
  const look = looks[metric];
  const isGrouped = split && (whole || !isOfCalls(metric));
  const isLatency = metric === 'latency_ms';
  const lines = useMemo(() => {
    const { color } = looks[metric];
    const read: Read = isLatency ? (figures) => figures[percentile] : looks[metric].read;
    const grouping = { points, ranks: rankGroups(points), getText };
    if (isLatency && !isGrouped) {
      const chosen = wholeLine(points, percentile, 1, read);
      return percentile === 'p50' ? [chosen] : [wholeLine(points, 'p50', 2, ({ p50 }) => p50), chosen];
    }
    if (!isGrouped) return [wholeLine(points, figureTitle(metric, false).toLowerCase(), color, read)];
    return isLatency ? groupLines(grouping, read, null) : partLines(grouping, read);
  }, [points, metric, isLatency, isGrouped, getText, percentile]);
  const costText = useCostText(project);
  const alertMetric = isLatency ? `latency_ms.${percentile}` : look.alert;
  const linkTo = (point: Pick<Point, 'from' | 'to'>, of: Counted): TracesSearch => {
    const span = { start: point.from, end: point.to };
    if (metric === 'error_count') return failuresIn(of, span);
    return { ...callsIn(of, span), ...(isLatency && { sort: '-summary.svc.latency_ms' }) };
  };
  return (
    <MetricChart
      title={props.title ?? figureTitle(metric, isGrouped, percentile)}
      alert={canAlert && counted ? { ...counted, form: true, metric: alertMetric } : undefined}
      tools={
        isLatency && onPercentile ? (
          <>
            {props.tools}
            <PercentileMenu percentile={percentile} onPercentile={onPercentile} />
          </>
        ) : (
          props.tools
        )
      }
      points={points}
      granularity={props.granularity}
      lines={lines}
      isSplit={split}
      bars={!isLatency && !props.asLines}
      text={look.text ?? costText}
      getLink={counted && ((point) => linkTo(point, counted))}
      onZoom={props.onZoom}
      sync={project}
    />
  );
};

/** A chart without anything in it, or what stands in its place. */
export const EmptyChart = ({ title, children }: EmptyChartProps) => (
  <section className="card metric" aria-label={title}>
    <div className="metric-head">
      <h2>{title}</h2>
    </div>
    {children ?? <p className="muted chart-empty">none in this period</p>}
  </section>
);

interface EmptyChartProps extends Pick<MetricChartProps, 'title'> {
  readonly children?: ReactNode;
}

/** What stands where a chart will be. */
export const ChartSkeleton = ({ title }: Pick<EmptyChartProps, 'title'>) => (
  <section className="card metric" aria-label={title || undefined} aria-busy="true">
    <div className="metric-head">{title ? <h2>{title}</h2> : <span className="skeleton" />}</div>
    <span className="skeleton chart" aria-hidden="true" />
  </section>
);

interface WhenSeenProps {
  /** What stands there until then, of the same size. */
  readonly fallback: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** What asks for something only once it comes into sight, or near it. */
export const WhenSeen = ({ fallback, className = 'when-seen', children }: WhenSeenProps) => {
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const { current } = place;
    if (isSeen || !current) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) setSeen(true);
      },
      { rootMargin: '100px' },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, [isSeen]);
  return (
    <div ref={place} className={className}>
      {isSeen ? children : fallback}
    </div>
  );
};
