import type { Micros } from '../../../foundations/wire/index.ts';
import { type Hour, hourMicros, hoursOfDay, toDay, toHour } from '../../records/rollups.ts';

/** A span of time: from the first, inclusive, to the second, exclusive. */
export type Span = readonly [from: Micros, to: Micros];

/**
 * The whole hours of a span that lie within one bucket each: those whose rollups can be used. The
 * others are cut, by the ends of the span or by an edge of buckets.
 */
export interface Hours {
  readonly first: Hour;
  /** Inclusive; before the first if there are none. */
  readonly last: Hour;
  readonly isCut: (hour: Hour) => boolean;
  /** Whether each UTC day lies within one bucket. */
  readonly wholeDays: boolean;
}

/** Finds the hours of a span whose rollups can be used. */
export const findHours = ([start, end]: Span, edges: readonly Micros[]): Hours => {
  const inner = edges.filter((edge) => edge > start && edge < end);
  const cut = new Set(inner.filter((edge) => edge % hourMicros !== 0).map(toHour));
  return {
    first: Math.ceil(start / hourMicros),
    last: Math.floor(end / hourMicros) - 1,
    isCut: (hour) => cut.has(hour),
    wholeDays: inner.every((edge) => edge % (hoursOfDay * hourMicros) === 0),
  };
};

/** The days that lie whole among hours. */
export const toWholeDays = ({
  first,
  last,
}: Pick<Hours, 'first' | 'last'>): readonly [from: number, to: number] => [
  Math.ceil(first / hoursOfDay),
  toDay(last + 1) - 1,
];

export const hoursOfTheDay = (day: number): Hour[] =>
  Array.from({ length: hoursOfDay }, (_, i) => day * hoursOfDay + i);

/** The days around some hours that are not known, as runs of days from one to another. */
export const findUnknownDays = (
  { first, last }: Pick<Hours, 'first' | 'last'>,
  isKnown: (day: number) => boolean,
): (readonly [number, number])[] => {
  const runs: [number, number][] = [];
  for (let day = toDay(first); day <= toDay(last); day++) {
    if (isKnown(day)) continue;
    const run = runs.at(-1);
    if (run && run[1] === day - 1) run[1] = day;
    else runs.push([day, day]);
  }
  return runs;
};

/** What is known of an hour: its calls, that it has none, or nothing. */
export type Knowledge = 'calls' | 'none' | 'nothing';

/**
 * What is left of a span without hours whose calls are known, in order. Hours without calls are
 * left in if they lie between two of which nothing is known. They add no rows to a range, and a
 * second range would take requests.
 */
export const gaps = (
  [start, end]: Span,
  { first, last, isCut }: Hours,
  getKnowledge: (hour: Hour) => Knowledge,
): Span[] => {
  const spans: [from: Micros, to: Micros][] = [];
  /** Whether no known calls lie behind the last range. */
  let isOpen = false;
  const add = (from: Micros, to: Micros): void => {
    if (from >= to) return;
    const latest = spans.at(-1);
    if (latest && isOpen) latest[1] = to;
    else spans.push([from, to]);
    isOpen = true;
  };
  add(start, first <= last ? first * hourMicros : end);
  for (let hour = first; hour <= last; hour++) {
    const knowledge = isCut(hour) ? 'nothing' : getKnowledge(hour);
    if (knowledge === 'nothing') add(hour * hourMicros, (hour + 1) * hourMicros);
    if (knowledge === 'calls') isOpen = false;
  }
  if (first <= last) add((last + 1) * hourMicros, end);
  return spans;
};
