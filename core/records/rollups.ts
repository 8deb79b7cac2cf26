import {
  asBytes,
  asNumber,
  getRetentionDays,
  type Item,
  mapConcurrent,
  type RequestBudget,
  raiseNumber,
  readRange,
  removeAttribute,
  type Store,
  type Table,
} from '../../foundations/storage/index.ts';
import type { ExpiryOf, TableKey, TableRange } from '../../foundations/storage/tables.ts';
import type { Micros, ProjectId } from '../../foundations/wire/index.ts';
import { type PartitionKind, toPartition } from './partitions.ts';

/*
 * Calls are rolled up by the UTC hour of their start. docs/decisions/0161 says why what follows
 * never shows a stale rollup.
 */

/** An hour, counted from 1970-01-01T00:00:00Z. */
export type Hour = number;

export const hoursOfDay = 24;
export const hourMs = 3_600_000;
export const hourMicros = hourMs * 1000;

export const toHour = (time: Micros): Hour => Math.floor(time / hourMicros);

/** The UTC day of an hour, counted from 1970-01-01. */
export const toDay = (hour: Hour): number => Math.floor(hour / hoursOfDay);

/**
 * The time after a write within which every index shows it, in milliseconds, with all that clocks
 * differ. It is also longer than any request can take that changes ends without knowing the hour of
 * their start. Such a request may have begun just before the start was reported. The longest is a
 * deletion.
 */
export const safeLagMs = 360_000;

/** How long after its end an hour is finished, in milliseconds. Later writes to it leave a mark. */
const finishLagMs = 900_000;

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
export const toExpiry = (
  hour: Hour,
  retentionDays: number | undefined,
  graceDays: number,
): ExpiryOf<'bookkeeping'> | undefined =>
  retentionDays === undefined ? undefined : { x: (hour + (retentionDays + graceDays) * hoursOfDay) * 3600 };

/*
 * A project has three partitions of the table `bookkeeping`, each in order of time. Numbers before 1970
 * are negative, so they are stored with an offset. `partitions.ts` has the tags of keys.
 *
 *   marks   k  marks, project   s  hour   u: until when the hour is not to be stored
 *   pages   k  pages, project   s  day    h: the rollups of the day's hours
 *   days    k  days, project    s  day    h: the rollup of the whole day
 *
 * A fourth has which trigrams the texts of an hour have, in parts: `texts.ts`.
 *
 *   texts   k  texts, project   s  hour, part   n: how many parts there are; h: the groups of this one
 *
 * Rollups of issues are kept as those of statistics are, in `issuePages` and `issueDays`, under the same marks.
 * So is which calls of a day come first in an order: `extremes.ts`.
 */

/** What an item is about. */
type ItemKind = Extract<PartitionKind, 'marks' | 'pages' | 'days' | 'issuePages' | 'issueDays'>;

const offset = 2 ** 31;

/** The number of an hour or a day, for a sort key. */
export const numberBytes = (number: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number + offset);
  return bytes;
};

/** The number of an hour or a day, out of a sort key. */
export const readNumber = (sortKey: Uint8Array): number =>
  new DataView(sortKey.buffer, sortKey.byteOffset, sortKey.byteLength).getUint32(0) - offset;

/** The key of what is about an hour (marks) or a day (the others). */
export const rollupKey = (kind: ItemKind, projectId: ProjectId, number: Hour): TableKey<'bookkeeping'> => ({
  k: toPartition(kind, projectId),
  s: numberBytes(number),
});

/** The keys of all hours or days from one to another, inclusive. */
export const rollupRange = (
  kind: ItemKind,
  projectId: ProjectId,
  from: number,
  to: number,
): TableRange<'bookkeeping'> => ({
  partition: ['k', toPartition(kind, projectId)],
  sort: ['s', numberBytes(from), numberBytes(to)],
});

/** The attributes of a part with how many there are, and with its groups. */
export const textParts = 'n';
export const textGroups = 'h';

/** The key of a part of what is known of the texts of an hour. */
export const textKey = (projectId: ProjectId, hour: Hour, part: number): TableKey<'bookkeeping'> => ({
  k: toPartition('texts', projectId),
  s: Buffer.concat([numberBytes(hour), Uint8Array.of(part >> 8, part & 0xff)]),
});

/** Takes away what is known of the texts of an hour, without a look whether there is anything. */
const dropTexts = async (
  table: Table,
  projectId: ProjectId,
  hour: Hour,
  budget: RequestBudget,
): Promise<void> => {
  const drop = (part: number) =>
    removeAttribute(table, { key: textKey(projectId, hour, part), attribute: textGroups }, budget);
  const { [textParts]: parts = 1 } = await drop(0);
  const others = Array.from({ length: parts - 1 }, (_, i) => i + 1);
  await mapConcurrent(others, concurrency, drop);
};

/** A call that is about to change: when it starts, and when its item expires, if it does. */
export interface Changing {
  readonly startedAt: Micros;
  /** Seconds since 1970. */
  readonly expiresAt?: number | undefined;
}

/** How many hours are marked at once. */
const concurrency = 8;
/** A mark outlives the rollups that it makes stale by some days. */
const graceDays = 30;

/** The attribute with the time until which an hour is not to be stored, in ms since 1970. */
const until = 'u';

/**
 * Marks the hours that one request changes after they were finished, before it changes them. Each
 * is marked once. An hour that is not finished for as long as the request can last needs no mark.
 */
export class HourMarks {
  readonly #store: Store;
  readonly #budget: RequestBudget;
  readonly #done = new Set<string>();

  constructor(store: Store, budget: RequestBudget) {
    this.#store = store;
    this.#budget = budget;
  }

  /**
   * Marks what calls change of a project's rollups.
   *
   * @param takesAway whether something of the calls may go. It leaves what is known of their texts, too
   * @throws ServiceError 503 when storage does not accept it in time; nothing may be changed then
   */
  async mark(projectId: ProjectId, calls: Iterable<Changing>, takesAway = false): Promise<void> {
    const { bookkeeping: table } = this.#store;
    if (!table) return;
    const retentionDays = getRetentionDays(this.#store, projectId);
    const seenAt = this.#budget.deadline + safeLagMs;
    const values = new Map<Hour, number>();
    for (const { startedAt, expiresAt } of calls) {
      const hour = toHour(startedAt);
      const outlived = expiresAt !== undefined && expiresAt * 1000 < rollupEnd(hour, retentionDays);
      if (outlived) values.set(hour, Number.MAX_SAFE_INTEGER);
      else if (seenAt > finishedAt(hour) && !values.has(hour)) values.set(hour, seenAt);
    }
    const fresh = [...values].filter(([hour, value]) => !this.#done.has(`${projectId} ${hour} ${value}`));
    await mapConcurrent(fresh, concurrency, ([hour, value]) => this.#raise(table, projectId, hour, value));
    // Texts are known of hours that were finished, and no more of those that are marked now.
    const now = Date.now();
    const known = [...values.keys()].filter(
      (hour) => takesAway && finishedAt(hour) <= now && !this.#done.has(`${projectId} ${hour} texts`),
    );
    await mapConcurrent(known, concurrency, async (hour) => {
      await dropTexts(table, projectId, hour, this.#budget);
      this.#done.add(`${projectId} ${hour} texts`);
    });
  }

  async #raise(table: Table, projectId: ProjectId, hour: Hour, value: number): Promise<void> {
    const expiry = toExpiry(hour, getRetentionDays(this.#store, projectId), graceDays);
    const key = rollupKey('marks', projectId, hour);
    await raiseNumber(table, { key, attribute: until, value, expiry }, this.#budget);
    this.#done.add(`${projectId} ${hour} ${value}`);
  }
}

/**
 * Reads the marks of hours, strongly consistent: until when each is not to be stored, in
 * milliseconds since 1970. It is also the mark's version. Hours without a mark are left out.
 */
export const readMarks = async (
  table: Table,
  projectId: ProjectId,
  from: Hour,
  to: Hour,
  budget: RequestBudget,
): Promise<ReadonlyMap<Hour, number>> => {
  const toRow = (item: Item): readonly [Hour, number] => {
    const hour = asBytes(item.s);
    const value = asNumber(item[until]);
    if (!hour || value === undefined) throw new Error('the mark of an hour is damaged');
    return [readNumber(hour), value];
  };
  const marks = new Map<Hour, number>();
  const range = rollupRange('marks', projectId, from, to);
  for await (const page of readRange(table, range, { toRow, consistent: true }, budget))
    for (const [hour, value] of page) marks.set(hour, value);
  return marks;
};
