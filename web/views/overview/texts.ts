import { momentText } from '../../data/format.ts';
import type { Point } from './series.ts';

const daySeconds = 86_400;

const dayText = (ms: number): string =>
  new Date(ms).toLocaleString('en-US', { day: 'numeric', month: 'short' });

const clockText = (ms: number): string => momentText(new Date(ms).toISOString()).slice(-8, -3);

/** A tick of the axis of time: a day, or a time of it. Midnights are shown as their days. */
export const tickText = (ms: number, granularity: number): string =>
  granularity >= daySeconds || clockText(ms) === '00:00' ? dayText(ms) : clockText(ms);

/** A bucket of time: `22 Nov 14:00 – 14:30`. */
export const bucketText = ({ from, to }: Pick<Point, 'from' | 'to'>): string => {
  if (to - from >= daySeconds * 1000) return dayText(from);
  return `${dayText(from)}, ${clockText(from)} – ${clockText(to)}`;
};

/** A share in percent: `2.5 %`. */
export const percentText = (share: number): string => {
  const percent = share * 100;
  return `${percent >= 10 || percent === 0 ? Math.round(percent) : percent.toFixed(1)} %`;
};

/** How much a figure changed: `+12 %`, `×3.2`. Undefined if there is nothing to compare it with. */
export const changeText = (before: number | undefined, now: number | undefined): string | undefined => {
  if (before === undefined || now === undefined || before === 0) return undefined;
  const factor = now / before;
  if (factor >= 2) return `×${factor >= 10 ? Math.round(factor) : factor.toFixed(1)}`;
  const percent = Math.round((factor - 1) * 100);
  return percent === 0 ? '±0 %' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`;
};
