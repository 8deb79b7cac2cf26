import { useEffect, useRef } from 'react';
import UPlot from 'uplot';

export interface Line {
  readonly label: string;
  /** One for each time; null for none. */
  readonly values: readonly (number | null)[];
  /** Which color of the tokens it has: 1 to 6, or the one of errors. */
  readonly color: number | 'error';
  /** Whether its values are marked, where they are not bars. @default true */
  readonly hasPoints?: boolean;
}

/** A chart over time. */
interface ChartProps {
  /** What it shows, for screen readers. */
  readonly name: string;
  /** The middle of each bucket, ascending, in ms since 1970. */
  readonly times: readonly number[];
  /** The first and the last moment, in ms since 1970. */
  readonly span: readonly [start: number, end: number];
  readonly lines: readonly Line[];
  /** Whether values stand as bars, for what is counted, or as lines. */
  readonly bars: boolean;
  /** Whether times are far apart: lines go on where they have no value, and rest nowhere. @default false */
  readonly sparse?: boolean;
  readonly timeText: (ms: number) => string;
  readonly valueText: (value: number) => string;
  /** The place of the time that the pointer is at; undefined if it left. */
  readonly onPoint: (at: number | undefined) => void;
  readonly onPick: (at: number) => void;
}

/** The least height, as the styles have it. */
const minHeight = 150;

/** A token's color as the canvas takes it: `light-dark()` is resolved only where it is used. */
const resolveColor = (element: HTMLElement, token: string): string => {
  element.style.color = `var(--${token})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
};

const getToken = ({ color }: Line): string => (color === 'error' ? 'error' : `series-${color}`);

const axisFont = '11px system-ui, sans-serif';

/** Where a line has points: not where it rests at zero. */
const findPoints = ({ data }: UPlot, series: number): number[] =>
  [...(data[series] ?? [])].flatMap((value, at) => (value ? [at] : []));

const createOptions = (element: HTMLElement, latest: { current: ChartProps }): UPlot.Options => {
  const { lines, bars, sparse = false } = latest.current;
  const axis = {
    stroke: () => resolveColor(element, 'muted'),
    font: axisFont,
    ticks: { show: false },
    grid: { stroke: () => resolveColor(element, 'line'), width: 1 },
  };
  return {
    width: element.clientWidth || 300,
    height: element.clientHeight || minHeight,
    // The last label of the time may stand half beyond the end.
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: !bars }, drag: { setScale: false, x: false, y: false } },
    scales: {
      x: { range: () => [latest.current.span[0] / 1000, latest.current.span[1] / 1000] },
      y: { range: (_u, low, high) => [Math.min(0, low) * 1.08, high > 0 ? high * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        space: 80,
        size: 26,
        values: (_u, splits) => splits.map((seconds) => latest.current.timeText(seconds * 1000)),
      },
      {
        ...axis,
        size: 62,
        values: (_u, splits) => splits.map((value) => latest.current.valueText(value)),
      },
    ],
    series: [
      {},
      ...lines.map((line): UPlot.Series => {
        const color = () => resolveColor(element, getToken(line));
        return {
          label: line.label,
          stroke: color,
          width: bars ? 0 : 1.75,
          spanGaps: sparse,
          points:
            bars || line.hasPoints === false
              ? { show: false }
              : { size: sparse ? 7 : 4, fill: color, ...(!sparse && { filter: findPoints }) },
          ...(bars && {
            fill: color,
            paths: UPlot.paths.bars?.({ size: [0.8, 60, 1], align: 0 }) as UPlot.Series.PathBuilder,
          }),
        };
      }),
    ],
    hooks: {
      setCursor: [({ cursor }) => latest.current.onPoint(cursor.idx ?? undefined)],
    },
  };
};

const toData = ({ times, lines }: Pick<ChartProps, 'times' | 'lines'>): UPlot.AlignedData => [
  times.map((ms) => ms / 1000),
  ...lines.map(({ values }) => [...values]),
];

/** Draws again when the theme changes, since a canvas does not follow styles. */
const onTheme = (draw: () => void): (() => void) => {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const chosen = new MutationObserver(draw);
  system.addEventListener('change', draw);
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    system.removeEventListener('change', draw);
    chosen.disconnect();
  };
};

/** A chart over time, with the library behind it. It loads with the first one. */
export const Chart = (props: ChartProps) => {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { times, lines } = props;
  const shape = JSON.stringify([
    props.bars,
    props.valueText(1),
    props.lines.map(({ label, color }) => [label, color]),
  ]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another shape is another chart
  useEffect(() => {
    const { current: host } = element;
    if (!host) return;
    const made = new UPlot(createOptions(host, latest), toData(latest.current), host);
    plot.current = made;
    made.over.addEventListener('click', () => {
      const { idx } = made.cursor;
      if (typeof idx === 'number') latest.current.onPick(idx);
    });
    const sizes = new ResizeObserver(() =>
      made.setSize({ width: host.clientWidth, height: host.clientHeight || minHeight }),
    );
    sizes.observe(host);
    const unwatch = onTheme(() => made.redraw(false));
    return () => {
      sizes.disconnect();
      unwatch();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => {
    plot.current?.setData(toData({ times, lines }));
  }, [times, lines]);
  return <div ref={element} className="chart" role="img" aria-label={props.name} />;
};
