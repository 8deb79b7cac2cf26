import { ByteReader, ByteWriter, packUuid, shortDigest } from '../../foundations/encoding/index.ts';
import {
  asBytes,
  type Item,
  putItems,
  type RequestBudget,
  readRange,
  type Table,
} from '../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../foundations/wire/index.ts';
import { toPartition } from './partitions.ts';
import { type Hour, hourMicros, hoursOfDay, numberBytes, readNumber, toExpiry } from './rollups.ts';

/*
 * Which calls of finished days come first in an order. docs/decisions/0318 has the reasons. A day has one item for
 * each order that was asked for, under the marks of its hours.
 */

/** A call that comes first. */
export interface Extreme {
  readonly id: string;
  readonly startedAt: Micros;
  /** What it is sorted by; null if it has no such value. */
  readonly value: number | null;
  /** The part whose item holds its end, as in a call's header. */
  readonly endPart: 'S' | 'E';
}

/** An hour of a day whose calls were looked at. */
export interface KnownHour {
  /** The mark that it was looked at under; 0 for none. */
  readonly mark: number;
  readonly hasCalls: boolean;
}

/** What is known of a day. */
export interface DayExtremes {
  /** Counted from 1970-01-01. */
  readonly day: number;
  /** Which prices the values were worked out by; empty if they need none. */
  readonly prices: string;
  readonly hours: ReadonlyMap<Hour, KnownHour>;
  /** Calls of these hours, those that come first, in their order. */
  readonly entries: readonly Extreme[];
  /** Whether there are more, which all come behind the last one. */
  readonly hasMore: boolean;
}

/** The most calls that are kept of a day. A range of 100 has two days' parts, of which one may have more of them. */
export const maxExtremes = 128;

const version = 1;

const orderLength = 8;

/** What stands for an order in keys: a text that says all of it. */
const toOrderKey = (order: string): Buffer => shortDigest(order).subarray(0, orderLength);

const isUuid = 1;
const endsApart = 2;
const hasValue = 4;
const isInteger = 8;

const writer = /* @__PURE__ */ new ByteWriter();

const dayMicros = hoursOfDay * hourMicros;

const writeEntry = ({ id, startedAt, value, endPart }: Extreme, from: Micros): void => {
  const uuid = packUuid(id);
  const isWhole = Number.isSafeInteger(value) && !Object.is(value, -0);
  writer.byte(
    (uuid ? isUuid : 0) |
      (endPart === 'E' ? endsApart : 0) |
      (value === null ? 0 : hasValue) |
      (isWhole ? isInteger : 0),
  );
  if (uuid) writer.bytes(uuid);
  else writer.text(id);
  writer.count(startedAt - from);
  if (value === null) return;
  if (isWhole) writer.integer(value);
  else writer.double(value);
};

const readEntry = (reader: ByteReader, from: Micros): Extreme => {
  const flags = reader.byte();
  const id = flags & isUuid ? reader.uuid() : reader.text();
  const startedAt = from + reader.count();
  const value = flags & hasValue ? (flags & isInteger ? reader.integer() : reader.double()) : null;
  return { id, startedAt, value, endPart: flags & endsApart ? 'E' : 'S' };
};

/** What an hour of a day is: not known, without calls, or with calls. */
const unknown = 0;
const withoutCalls = 1;
const withCalls = 2;

/** Packs what is known of a day: it is too random to be compressed. */
export const packExtremes = ({ day, prices, hours, entries, hasMore }: DayExtremes): Buffer => {
  const from = day * dayMicros;
  writer.clear();
  writer.byte(version);
  writer.text(prices);
  for (let hour = 0; hour < hoursOfDay; hour++) {
    const known = hours.get(day * hoursOfDay + hour);
    writer.byte(known ? (known.hasCalls ? withCalls : withoutCalls) : unknown);
    if (known) writer.count(known.mark);
  }
  writer.byte(hasMore ? 1 : 0);
  writer.count(entries.length);
  for (const entry of entries) writeEntry(entry, from);
  return writer.toBytes();
};

/**
 * Undoes {@link packExtremes}.
 *
 * @returns undefined if another release wrote it otherwise: it is made anew
 * @throws Error if the bytes are damaged
 */
export const unpackExtremes = (day: number, bytes: Uint8Array): DayExtremes | undefined => {
  const reader = new ByteReader(bytes);
  if (reader.byte() !== version) return undefined;
  const prices = reader.text();
  const hours = new Map<Hour, KnownHour>();
  for (let hour = 0; hour < hoursOfDay; hour++) {
    const kind = reader.byte();
    if (kind !== unknown)
      hours.set(day * hoursOfDay + hour, { mark: reader.count(), hasCalls: kind === withCalls });
  }
  const hasMore = reader.byte() === 1;
  const entries = Array.from({ length: reader.count() }, () => readEntry(reader, day * dayMicros));
  return { day, prices, hours, entries, hasMore };
};

const keyOf = (order: string, day: number): Buffer => Buffer.concat([toOrderKey(order), numberBytes(day)]);

/**
 * Reads what is known of days, from one to another, inclusive, in their order.
 *
 * @param order a text that says all of the order, and which calls are in it
 * @throws ServiceError 503 when storage does not answer in time; Error if an item is damaged
 */
export const readExtremes = async (
  table: Table,
  projectId: ProjectId,
  order: string,
  [from, to]: readonly [from: number, to: number],
  budget: RequestBudget,
): Promise<DayExtremes[]> => {
  const range = {
    partition: ['k', toPartition('extremes', projectId)],
    sort: ['s', keyOf(order, from), keyOf(order, to)],
  } as const;
  const toRow = ({ s, h }: Item): DayExtremes | undefined => {
    const key = asBytes(s);
    const bytes = asBytes(h);
    return key && bytes && unpackExtremes(readNumber(key.subarray(orderLength)), bytes);
  };
  const pages = await Array.fromAsync(readRange(table, range, { toRow }, budget));
  return pages.flat().filter((day) => day !== undefined);
};

/** The largest item that is stored, in bytes. Ids may be long. */
const maxItemBytes = 300_000;
/** Days are forgotten some days after they cease to count, and long before the marks of their hours. */
const graceDays = 1;

/**
 * Stores what is known of days, instead of what was.
 *
 * @param getDays the fewest days after which calls of an hour expire
 * @throws ServiceError 503 when some could not be stored in time
 */
export const storeExtremes = async (
  table: Table,
  projectId: ProjectId,
  order: string,
  days: readonly DayExtremes[],
  getDays: (hour: Hour) => number | undefined,
  budget: RequestBudget,
): Promise<void> => {
  const k = toPartition('extremes', projectId);
  const items = days.map((known) => {
    const first = known.day * hoursOfDay;
    const h = packExtremes(known);
    return { k, s: keyOf(order, known.day), h, ...toExpiry(first, getDays(first), graceDays) };
  });
  await putItems(
    table,
    items.filter(({ h }) => h.length <= maxItemBytes),
    budget,
  );
};
