import { lazy, Suspense } from 'react';
import { ensureValidLanguage } from './valid-language.ts';

/** A line of a chart. */
export interface Line {
  readonly label: string;
  /** One for each time; null for none. */
  readonly values: readonly (number | null)[];
  /** Which color of the tokens it has: 1 to 6, or the one of errors. */
  readonly color: number | 'error';
}

/** A chart over time. */
export interface ChartProps {
  /** What it shows, for screen readers. */
  readonly name: string;
  /** The middle of each bucket, ascending, in ms since 1970. */
  readonly times: readonly number[];
  /** The first and the last moment, in ms since 1970. */
  readonly span: readonly [start: number, end: number];
  readonly lines: readonly Line[];
  /** Whether values stand as bars, for what is counted, or as lines. */
  readonly bars: boolean;
  readonly timeText: (ms: number) => string;
  readonly valueText: (value: number) => string;
  /** The place of the time that the pointer is at; undefined if it left. */
  readonly onPoint: (at: number | undefined) => void;
  readonly onPick: (at: number) => void;
}

const Base = lazy(async () => {
  ensureValidLanguage();
  return { default: (await import('./chart-base.tsx')).ChartBase };
});

/** A chart over time. What draws it loads with the first one. */
export const Chart = (props: ChartProps) => (
  <Suspense fallback={<div className="chart" />}>
    <Base {...props} />
  </Suspense>
);
