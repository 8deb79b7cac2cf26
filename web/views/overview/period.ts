import { ranges } from '../traces/search.ts';
import type { OverviewSearch } from './search.ts';

const minuteMs = 60_000;
const hour = 3600;

/** A span of time in ms since 1970: from the first, inclusive, to the second, exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What the overview is about: a span of time, and the one of the same length before it. */
export interface Period extends Span {
  readonly before: Span;
  /** Seconds of a bucket of the charts. */
  readonly granularity: number;
}

/** Buckets to choose from, in seconds. Days begin at the reader's midnights. */
const usual = [60, 300, 600, 1800, hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour, 7 * 24 * hour] as const;

/** As many points as can be told apart and clicked. */
const maxPoints = 62;

const granularityOf = (ms: number): number =>
  usual.find((seconds) => ms / 1000 / seconds <= maxPoints) ?? 28 * 24 * hour;

/**
 * The period of a URL's state. A range ends with the present minute, so that a view that is drawn
 * again within it asks for nothing anew.
 *
 * @param now ms since 1970
 */
export const periodOf = ({ range, from, to }: OverviewSearch, now: number): Period => {
  const end =
    (to === undefined || range ? undefined : Date.parse(to)) ?? Math.ceil(now / minuteMs) * minuteMs;
  const length = ranges[range ?? '24h'] * minuteMs;
  const asked = from === undefined || range ? end - length : Date.parse(from);
  const start = asked < end ? asked : end - length;
  return {
    start,
    end,
    before: { start: start - (end - start), end: start },
    granularity: granularityOf(end - start),
  };
};
