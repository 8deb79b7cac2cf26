import type { Micros } from './time.ts';

const second = 1_000_000;
const day = 86_400;

/** The most buckets of an answer. */
export const maxBuckets = 10_000;

/** The granularities that are chosen from, in seconds. */
const usual = [
  1,
  2,
  5,
  10,
  15,
  30,
  60,
  120,
  300,
  600,
  900,
  1800,
  3600,
  7200,
  10_800,
  21_600,
  43_200,
  day,
  2 * day,
  7 * day,
  14 * day,
  28 * day,
  91 * day,
  364 * day,
];

/** A usual granularity in seconds that makes some 60 to 200 buckets of a span of time. */
export const defaultGranularity = (start: Micros, end: Micros): number =>
  usual.find((seconds) => (end - start) / second / seconds <= 200) ?? 728 * day;

/** Whether a granularity in seconds has buckets: less than a day, or whole days. */
export const isGranularity = (seconds: number): boolean =>
  Number.isInteger(seconds) && seconds > 0 && (seconds < day || seconds % day === 0);

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * The format that tells the local time of a zone.
 *
 * @throws RangeError if there is no such zone
 */
const getFormat = (timezone: string): Intl.DateTimeFormat => {
  const known = formats.get(timezone);
  if (known) return known;
  const dateFormat = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timezone, dateFormat);
  return dateFormat;
};

/** Whether a text is an IANA time zone, such as `Europe/Berlin`. */
export const isTimezone = (text: string): boolean => {
  // Offsets such as +02:00 are zones to some versions of ICU, and no IANA names.
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(text)) return false;
  try {
    getFormat(text);
    return true;
  } catch {
    return false;
  }
};

/** Seconds by which a zone is ahead of UTC at a time in seconds since 1970. */
const offsetAt = (timezone: string, seconds: number): number => {
  if (timezone === 'UTC') return 0;
  const parts = new Map(
    getFormat(timezone)
      .formatToParts(seconds * 1000)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const getPart = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const local = Date.UTC(
    getPart('year'),
    getPart('month') - 1,
    getPart('day'),
    getPart('hour'),
    getPart('minute'),
    getPart('second'),
  );
  return local / 1000 - seconds;
};

/** The local day of a time in seconds, counted from 1970-01-01. */
const dayAt = (timezone: string, seconds: number): number =>
  Math.floor((seconds + offsetAt(timezone, seconds)) / day);

/** No zone is further than this from UTC, in seconds. */
const maxOffset = 16 * 3600;

/** The first second of a local day. Where the clock leaps over midnight, it is that of the leap. */
const startOfDay = (timezone: string, number: number): number => {
  const midnight = number * day;
  if (timezone === 'UTC') return midnight;
  const guess = midnight - offsetAt(timezone, midnight - offsetAt(timezone, midnight));
  if (dayAt(timezone, guess) >= number && dayAt(timezone, guess - 1) < number) return guess;
  let before = midnight - maxOffset;
  let from = midnight + maxOffset;
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (dayAt(timezone, middle) >= number) from = middle;
    else before = middle;
  }
  return from;
};

/** Weeks begin on Mondays; 1970-01-05 was one. All else is counted from 1970-01-01. */
const firstDay = (days: number): number => (days % 7 === 0 ? 4 : 0);

function* dayEdges(timezone: string, from: number, days: number): Generator<number> {
  const first = firstDay(days);
  const today = dayAt(timezone, from);
  for (let at = Math.floor((today - first) / days) * days + first; ; at += days)
    yield startOfDay(timezone, at);
}

function* edgesWithinDays(timezone: string, from: number, seconds: number): Generator<number> {
  for (let today = dayAt(timezone, from); ; today++) {
    const next = startOfDay(timezone, today + 1);
    for (let at = startOfDay(timezone, today); at < next; at += seconds) yield at;
  }
}

/**
 * The edges of the buckets that hold a span of time, ascending: bucket i lasts from edge i,
 * inclusive, to edge i + 1, exclusive. Buckets of whole days begin at midnights of the zone, so one
 * can have 23 or 25 hours. Shorter ones are counted from each midnight, and the last of a day ends
 * with it.
 *
 * @param granularity seconds: less than a day, or whole days
 * @returns at most two edges more than the most buckets
 */
export const bucketEdges = (start: Micros, end: Micros, granularity: number, timezone: string): Micros[] => {
  const from = Math.floor(start / second);
  const all =
    granularity < day
      ? edgesWithinDays(timezone, from, granularity)
      : dayEdges(timezone, from, granularity / day);
  const edges: Micros[] = [];
  for (const edge of all) {
    const micros = edge * second;
    // Edges before the one at which the span begins are passed over.
    if (micros <= start) edges.length = 0;
    edges.push(micros);
    if (micros >= end || edges.length > maxBuckets + 1) return edges;
  }
  return edges;
};

/** The bucket of a time: the last edge that is not later. */
export const findBucket = (edges: readonly Micros[], time: Micros): number => {
  let low = 0;
  let high = edges.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((edges[middle] ?? 0) <= time) low = middle;
    else high = middle - 1;
  }
  return low;
};
