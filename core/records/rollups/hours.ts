import type { ExpiryOf } from '../../foundations/storage/declared-keys.ts';
import type { Micros } from '../../foundations/wire/index.ts';

/*
 * Calls are rolled up by the UTC hour of their start. docs/decisions/0161 says why what follows
 * never shows a stale rollup.
 */

/** An hour, counted from 1970-01-01T00:00:00Z. */
export type Hour = number;

export const hoursOfDay = 24;
const hourMs = 3_600_000;
export const hourMicros = hourMs * 1000;

/** The hour of a time. */
export const hourOf = (time: Micros): Hour => Math.floor(time / hourMicros);

/** The UTC day of an hour, counted from 1970-01-01. */
export const dayOf = (hour: Hour): number => Math.floor(hour / hoursOfDay);

/**
 * The time after a write within which every index shows it, in milliseconds, with all that clocks
 * differ. It is also longer than any request can take that changes ends without knowing the hour of
 * their start. Such a request may have begun just before the start was reported. The longest is a
 * deletion.
 */
export const safeLagMs = 360_000;

/** How long after its end an hour is finished, in milliseconds. Later writes to it leave a mark. */
export const finishLagMs = 900_000;

/** When an hour is finished, in milliseconds since 1970. */
export const finishedAt = (hour: Hour): number => (hour + 1) * hourMs + finishLagMs;

/**
 * Until when rollups of an hour count, in milliseconds since 1970. They count calls that expire,
 * and no write tells of that. Calls expire so many days after they were written, and those that are
 * written a day before they start leave a mark.
 */
export const rollupEnd = (hour: Hour, retentionDays: number | undefined): number =>
  retentionDays === undefined ? Number.POSITIVE_INFINITY : (hour + (retentionDays - 1) * hoursOfDay) * hourMs;

/** The attribute that makes an item about an hour expire; undefined if it is kept. */
export const expiryOf = (
  hour: Hour,
  retentionDays: number | undefined,
  graceDays: number,
): ExpiryOf<'rollups'> | undefined =>
  retentionDays === undefined ? undefined : { x: (hour + (retentionDays + graceDays) * hoursOfDay) * 3600 };
