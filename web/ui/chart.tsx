import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import { onTheme, resolveColor } from './canvas.ts';

export interface Line {
  readonly label: string;
  /** One for each time; null for none. */
  readonly values: readonly (number | null)[];
  /** Which color of the tokens it has: 1 to 6, the one of errors, or that of all others together. */
  readonly color: number | 'error' | 'rest';
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
  /** Whether values are bars, for what is counted, or lines. Bars are parts of a whole: they are stacked. */
  readonly bars: boolean;
  /** Whether times are far apart: lines go on where they have no value, and rest nowhere. @default false */
  readonly sparse?: boolean;
  readonly timeText: (ms: number) => string;
  readonly valueText: (value: number) => string;
  /** What is said of a time beside its values: when it was. */
  readonly pointText: (at: number) => string;
  /** What a click on a time does, in words. @default - nothing */
  readonly pickText?: string | undefined;
  readonly onPick?: ((at: number) => void) | undefined;
  /** Called with the times between which somebody dragged, in ms since 1970. @default - nobody can */
  readonly onZoom?: ((from: number, to: number) => void) | undefined;
  /** Charts of the same name show the same time under the pointer. @default - it is alone */
  readonly sync?: string | undefined;
}

/** The height, as the styles have it. */
const height = 160;

const tokens: Readonly<Record<string, string>> = { error: 'error', rest: 'line-strong' };

const getToken = ({ color }: Line): string => tokens[color] ?? `series-${color}`;

const axisFont = '11px Inter, sans-serif';

/** An amount on an axis: `$0.60`, where a column has `$0.6000`. */
const tickText = (text: string): string => text.replace(/(\.\d{2}\d*?)0+(?!\d)/, '$1');

/** Whether zero is a value like others: of what is counted, there is none where nothing was. */
const hasZeros = (values: readonly unknown[]): boolean => values.includes(null) && values.includes(0);

/** Where a line has points: not where it rests at zero. */
const findPoints = ({ data }: UPlot, series: number): number[] => {
  const values = [...(data[series] ?? [])];
  const all = hasZeros(values);
  return values.flatMap((value, at) => (value || (all && value === 0) ? [at] : []));
};

/** In the order of drawing: of stacked bars, the highest is drawn first, and those below it over it. */
const drawn = ({ lines, bars }: Pick<ChartProps, 'lines' | 'bars'>): readonly Line[] =>
  bars ? lines.toReversed() : lines;

const createOptions = (element: HTMLElement, latest: { current: ChartProps }): UPlot.Options => {
  const { bars, sparse = false, sync } = latest.current;
  const axis = {
    stroke: () => resolveColor(element, 'muted'),
    font: axisFont,
    ticks: { show: false },
    grid: { stroke: () => resolveColor(element, 'line'), width: 1 },
  };
  return {
    width: element.clientWidth || 300,
    height,
    // The last label of the time may stand half beyond the end.
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: !bars },
      drag: { setScale: false, x: latest.current.onZoom !== undefined, y: false, dist: 6 },
      ...(sync && { sync: { key: sync } }),
    },
    scales: {
      x: { range: () => [latest.current.span[0] / 1000, latest.current.span[1] / 1000] },
      y: {
        range: (_u, low, high) => {
          const top = high > 0 ? high * 1.08 : 1;
          const isMarked = !bars && (sparse || latest.current.lines.some(({ values }) => hasZeros(values)));
          // The marks of values at zero are whole: they do not stand half below the axis.
          return [low < 0 ? low * 1.08 : isMarked ? -0.05 * top : 0, top];
        },
      },
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
        size: 48,
        values: (_u, splits) => splits.map((value) => tickText(latest.current.valueText(value))),
      },
    ],
    series: [
      {},
      ...drawn(latest.current).map((line): UPlot.Series => {
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
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width === 0) return;
          const [from, to] = [left, left + width].map((x) => plot.posToVal(x, 'x') * 1000);
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (from !== undefined && to !== undefined) latest.current.onZoom?.(from, to);
        },
      ],
    },
  };
};

/** The values of each line with those of the lines below it. */
const stacked = (lines: readonly Line[]): (number | null)[][] => {
  const sums: (number | null)[] = [];
  return lines.map(({ values }) => {
    for (const [at, value] of values.entries())
      if (value !== null) sums[at] = (sums[at] ?? 0) + value;
      else sums[at] ??= null;
    return [...sums];
  });
};

const toData = ({ times, lines, bars }: Pick<ChartProps, 'times' | 'lines' | 'bars'>): UPlot.AlignedData => [
  times.map((ms) => ms / 1000),
  ...(bars ? stacked(lines).toReversed() : lines.map(({ values }) => [...values])),
];

/** Where the pointer is: at which time, and how far from the left. */
interface Pointed {
  readonly at: number;
  readonly left: number;
  /** Whether there is more room on the other side of it. */
  readonly isRight: boolean;
}

/** What is at the time under the pointer. */
const Tip = ({ pointed: { at, left, isRight }, ...props }: { pointed: Pointed } & ChartProps) => {
  const { lines, valueText, pointText, pickText } = props;
  const known = lines.filter(({ values }) => typeof values[at] === 'number' && values[at] !== 0);
  return (
    <div
      className="chart-tip"
      aria-hidden="true"
      style={isRight ? { insetInlineEnd: `calc(100% - ${left - 10}px)` } : { insetInlineStart: left + 10 }}
    >
      <div>{pointText(at)}</div>
      {(known.length > 0 ? known : lines.slice(0, 1)).map((line) => (
        <div key={line.label} className="chart-tip-line">
          <span className={`swatch series-${line.color}`} />
          <span className="cut">{line.label}</span>
          <strong>{valueText(line.values[at] ?? 0)}</strong>
        </div>
      ))}
      {pickText ? <div className="muted">{pickText}</div> : null}
    </div>
  );
};

/** A chart over time, with the library behind it. It loads with the first one. */
export const Chart = (props: ChartProps) => {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { times, lines, bars } = props;
  const [pointed, setPointed] = useState<Pointed>();
  const shape = JSON.stringify([
    bars,
    props.valueText(1),
    props.onZoom === undefined,
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
      if (typeof idx === 'number') latest.current.onPick?.(idx);
    });
    // Not by a hook: charts beside it have their cursors at the same time, and nobody points there.
    made.over.addEventListener('mousemove', () => {
      const { idx, left = 0 } = made.cursor;
      const { offsetLeft, offsetWidth } = made.over;
      setPointed(
        typeof idx === 'number'
          ? { at: idx, left: offsetLeft + left, isRight: left > offsetWidth / 2 }
          : undefined,
      );
    });
    made.over.addEventListener('mouseleave', () => setPointed(undefined));
    const sizes = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height }));
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
    plot.current?.setData(toData({ times, lines, bars }));
  }, [times, lines, bars]);
  return (
    <div className="chart" role="img" aria-label={props.name}>
      <div ref={element} className="chart-plot" />
      {pointed && pointed.at < times.length ? <Tip pointed={pointed} {...props} /> : null}
    </div>
  );
};
