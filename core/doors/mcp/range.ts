import type { CallsFilter } from '../../../api/queries.ts';
import { type Expression, isDuring } from '../../../foundations/expression/index.ts';
import { formatTime, invalidAt, type Micros } from '../../../foundations/wire/index.ts';

/** The calls that a request is about, by `started_at`: from `start` on, before `end`. */
export interface Range {
  readonly start: Micros | null;
  readonly end: Micros | null;
}

/**
 * The range of a request: as it asks, or up to now.
 *
 * @param span how long it is without a start, in microseconds
 */
export const toRange = (
  { start, end }: Range,
  now: Micros,
  span: number,
): { readonly start: Micros; readonly end: Micros } => {
  const until = end ?? now;
  const from = start ?? until - span;
  if (from < until) return { start: from, end: until };
  throw invalidAt(['body', 'end'], 'should be later than start');
};

/** A range as replies show it. */
export const shownRange = ({ start, end }: { readonly start: Micros; readonly end: Micros }) => ({
  start: formatTime(start),
  end: formatTime(end),
});

/** The range of a reply that nobody asked for: whoever named its start, or goes on, knows it. */
export const usualRange = (
  asked: { readonly start: Micros | null; readonly cursor?: string | null },
  { start, end }: Range,
) =>
  asked.start === null && (asked.cursor ?? null) === null && start !== null && end !== null
    ? { range: shownRange({ start, end }) }
    : {};

/** Whether a filter names what it looks for, so that it needs no range. */
export const isNamed = ({ callIds, traceIds, threadIds, parentIds, turnIds }: CallsFilter): boolean =>
  [callIds, traceIds, threadIds, parentIds, turnIds].some((ids) => ids !== null);

/** An expression that holds within a range as well. */
export const within = ({ start, end }: Range, where: Expression | null): Expression | null => {
  const operands = [...(where ? [where] : []), ...isDuring('started_at', start, end)];
  return operands.length === 0 ? null : { kind: 'and', operands };
};

/** Where a list goes on: the range that it began with, and how many rows were shown. */
export interface Place extends Range {
  readonly offset: number;
}

/** A place as text, for `next_cursor`. */
export const toCursor = ({ start, end, offset }: Place): string =>
  Buffer.from(JSON.stringify([start, end, offset])).toString('base64url');

/**
 * How a list goes on after what was shown: with a cursor, and the words that say so. Where nothing was shown,
 * the same again would show nothing, and it takes more room.
 *
 * @param words what is left, and which tool shows it
 * @param shown how many rows were shown
 */
export const goesOn = (words: string, shown: number, { start, end, offset }: Place) =>
  shown === 0
    ? { missing: ['all of it: the same call with more max_characters'] }
    : { missing: [words], next_cursor: toCursor({ start, end, offset: offset + shown }) };

const isTime = (value: unknown): value is Micros | null => value === null || Number.isSafeInteger(value);

/**
 * Reads what {@link toCursor} wrote.
 *
 * @throws ServiceError 422 if it is something else
 */
export const parseCursor = (cursor: string): Place => {
  try {
    const [start, end, offset, ...more] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (isTime(start) && isTime(end) && Number.isSafeInteger(offset) && offset >= 0 && more.length === 0)
      return { start, end, offset };
  } catch {
    // It is refused below.
  }
  throw invalidAt(['body', 'cursor'], 'should be the next_cursor of a reply of this tool, as it was');
};
