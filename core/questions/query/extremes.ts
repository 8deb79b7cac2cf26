import {
  compareBy,
  compareText,
  type Sortable,
  type SortKey,
  sortable,
} from '../../../foundations/expression/index.ts';
import type { Slice } from '../../../foundations/listing/index.ts';
import {
  fewerDays,
  mapConcurrent,
  type RequestBudget,
  type Store,
  type Table,
} from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { type CallHeader, foldCall, readParts, type TimeBounds } from '../../records/calls/index.ts';
import {
  type DayExtremes,
  type Extreme,
  type KnownHour,
  maxExtremes,
  readExtremes,
  storeExtremes,
} from '../../records/extremes.ts';
import { getFewestDays, type NotedRetention, recallRetention } from '../../records/projects.ts';
import {
  finishedAt,
  type Hour,
  hourMicros,
  hourMs,
  hoursOfDay,
  readMarks,
  rollupEnd,
  toDay,
  toHour,
} from '../../records/rollups.ts';
import { toSortKey } from './order.ts';
import type { ExtremesPlan } from './plan.ts';
import { QueriedCall } from './queried-call.ts';

/*
 * Which calls come first in an order, by what is known of finished days: docs/decisions/0318. Of each day the first
 * calls are known, and that all others come behind the last one of them. That is enough as long as the answer ends
 * before it does. What is not known is read, and noted for the next question.
 */

/** What the question is, and what it asks of the query that it is a part of. */
export interface ExtremesReading {
  readonly store: Store;
  readonly table: Table;
  readonly projectId: ProjectId;
  readonly plan: ExtremesPlan;
  readonly sort: readonly SortKey[];
  readonly slice: Slice & { readonly limit: number };
  readonly bounds: TimeBounds;
  /** Reads the calls that match and start within bounds, with what they are sorted by. */
  readonly scan: (bounds: TimeBounds) => AsyncIterable<readonly QueriedCall[]>;
  /** Gives calls with what they are sorted by, as they are now; without those that match no more. */
  readonly look: (calls: readonly QueriedCall[]) => Promise<readonly QueriedCall[]>;
  /** Which prices are in force; undefined if that is not known. */
  readonly prices: () => Promise<string | undefined>;
  readonly counts: { days: number };
}

/** A shorter range than this is read as it is, in microseconds. */
const shortest = 6 * hourMicros;
/** What was read is noted if there were so many calls, or so many spans of time that were not known. */
const callsToNote = 1000;
const spansToNote = 8;
/** How long noting may take, in milliseconds. The answer waits for it. */
const storeMs = 3000;
/** The most days that are noted, up to the latest one with calls. */
const maxStoredDays = 400;
/** How many spans are read at once. */
const spansAtOnce = 4;

const earliest = toHour(-Number.MAX_SAFE_INTEGER);
const latest = toHour(Number.MAX_SAFE_INTEGER);

/** A call that may be among the first: one that was read, or one that is known. */
interface Candidate extends Extreme {
  readonly key: readonly Sortable[];
  readonly row: QueriedCall | null;
}

type Compare<T> = (a: T, b: T) => number;

const byTime: Compare<Extreme> = (a, b) => a.startedAt - b.startedAt || compareText(a.id, b.id);

/** The first ones of a list that may be long. */
class First<T> {
  /** Whether some were left out. */
  hasMore = false;
  /** How many there were. */
  count = 0;
  #list: T[] = [];
  readonly #max: number;
  readonly #compare: Compare<T>;

  constructor(max: number, compare: Compare<T>) {
    this.#max = max;
    this.#compare = compare;
  }

  add(item: T): void {
    this.count++;
    this.#list.push(item);
    if (this.#list.length > 4 * this.#max) this.#prune();
  }

  /** In their order. */
  get all(): readonly T[] {
    this.#prune();
    return this.#list;
  }

  #prune(): void {
    this.#list.sort(this.#compare);
    if (this.#list.length <= this.#max) return;
    this.hasMore = true;
    this.#list = this.#list.slice(0, this.#max);
  }
}

/** The calls of an hour that was read. */
interface ReadHour {
  readonly first: First<Candidate>;
  /** Whether it has a call that is sorted by something else than a number, or that moved meanwhile. */
  isOdd: boolean;
}

/** A day of which something is known that counts. */
interface KnownDay {
  readonly known: DayExtremes;
  /** Its hours that count. */
  readonly hours: ReadonlyMap<Hour, KnownHour>;
}

class Extremes {
  readonly #reading: ExtremesReading;
  readonly #budget: RequestBudget;
  /** When it began, before anything was read. */
  readonly #begun = Date.now();
  readonly #compare: Compare<Candidate>;
  #marks: ReadonlyMap<Hour, number> = new Map();
  #retention: NotedRetention | undefined;
  #days: readonly KnownDay[] = [];
  readonly #read = new Map<Hour, ReadHour>();
  #first: First<Candidate>;

  constructor(reading: ExtremesReading, budget: RequestBudget) {
    this.#reading = reading;
    this.#budget = budget;
    const byKey = compareBy(reading.sort);
    this.#compare = (a, b) => byKey(a.key, b.key) || byTime(a, b);
    const { offset, limit } = reading.slice;
    this.#first = new First(offset + limit, this.#compare);
  }

  async find(): Promise<readonly QueriedCall[] | null> {
    const { table, projectId, plan, bounds, prices, counts } = this.#reading;
    const first = bounds.from === undefined ? earliest : toHour(bounds.from);
    const last = bounds.to === undefined ? latest : toHour(bounds.to);
    const span = [toDay(first), toDay(last)] as const;
    const [pricedBy, marks, retention, days] = await Promise.all([
      plan.priced ? prices() : '',
      readMarks(table, projectId, span[0] * hoursOfDay, (span[1] + 1) * hoursOfDay - 1, this.#budget),
      recallRetention(table, projectId, this.#budget),
      readExtremes(table, projectId, plan.order, span, this.#budget),
    ]);
    if (pricedBy === undefined) return null;
    [this.#marks, this.#retention] = [marks, retention];
    this.#days = days.filter((day) => day.prices === pricedBy).map((known) => this.#toKnown(known));
    counts.days = this.#days.length;
    for (const { known, hours } of this.#days)
      for (const entry of known.entries) if (this.#isIn(hours, entry)) this.#first.add(toCandidate(entry));
    const spans = this.#unknownSpans();
    await mapConcurrent(spans, spansAtOnce, (unknown) => this.#scan(unknown));
    await this.#readBehind();
    const found = await this.#look();
    // The answer is whole without it, and the next request notes it.
    await this.#save(pricedBy, spans).catch(() => {});
    return found;
  }

  /** What counts of a day that was noted. */
  #toKnown(known: DayExtremes): KnownDay {
    const counts = ([hour, { mark }]: readonly [Hour, KnownHour]) =>
      mark === this.#mark(hour) && this.#begun < rollupEnd(hour, this.#getDays(hour));
    return { known, hours: new Map([...known.hours].filter(counts)) };
  }

  /** Whether a call is in one of some hours, whole in the bounds. */
  #isIn(hours: ReadonlyMap<Hour, unknown>, { startedAt }: Extreme): boolean {
    const hour = toHour(startedAt);
    return hours.has(hour) && this.#isWhole(hour);
  }

  #isWhole(hour: Hour, { from, to }: TimeBounds = this.#reading.bounds): boolean {
    return (
      (from === undefined || hour * hourMicros >= from) &&
      (to === undefined || (hour + 1) * hourMicros - 1 <= to)
    );
  }

  /**
   * The spans of which nothing is known, in order. Hours without calls are left in between two of them: they add no rows,
   * and another span would take requests.
   */
  #unknownSpans(): TimeBounds[] {
    const { bounds } = this.#reading;
    const spans: { from?: number; to?: number }[] = [];
    let { from } = bounds;
    let isOpen = false;
    const add = (to: number | undefined): void => {
      const span = spans.at(-1);
      if (from !== undefined && to !== undefined && from > to) return;
      if (span && isOpen) {
        delete span.to;
        if (to !== undefined) span.to = to;
      } else spans.push({ ...(from !== undefined && { from }), ...(to !== undefined && { to }) });
      isOpen = true;
    };
    for (const { hours } of this.#days)
      for (const [hour, { hasCalls }] of hours) {
        if (!this.#isWhole(hour)) continue;
        add(hour * hourMicros - 1);
        if (hasCalls) isOpen = false;
        from = (hour + 1) * hourMicros;
      }
    add(bounds.to);
    return spans;
  }

  async #scan(bounds: TimeBounds): Promise<void> {
    for await (const rows of this.#reading.scan(bounds))
      for (const row of rows) {
        const candidate = this.#toCandidate(row);
        this.#first.add(candidate);
        const hour = toHour(row.found.start.startedAt);
        const read = this.#read.get(hour) ?? { first: new First(maxExtremes, this.#compare), isOdd: false };
        this.#read.set(hour, read);
        read.first.add({ ...candidate, row: null });
        const [key = null] = candidate.key;
        read.isOdd ||= row.found.start.startedAt !== candidate.startedAt;
        read.isOdd ||= key !== null && typeof key[1] !== 'number';
      }
  }

  #toCandidate(row: QueriedCall): Candidate {
    const { id, start, endPart } = row.header;
    const key = toSortKey(this.#reading.sort, row);
    const value = key[0]?.[1];
    return {
      id,
      startedAt: start.startedAt,
      value: typeof value === 'number' ? value : null,
      endPart,
      key,
      row,
    };
  }

  /** Reads the calls of days that may have more of them before the answer ends than are known. */
  async #readBehind(): Promise<void> {
    const { offset, limit } = this.#reading.slice;
    const end = this.#first.all[offset + limit - 1];
    const isEnough = ({ known }: KnownDay): boolean => {
      const last = known.entries.at(-1);
      return !known.hasMore || (!!end && !!last && this.#compare(end, toCandidate(last)) <= 0);
    };
    const behind = this.#days.filter((day) => !isEnough(day));
    const spans = behind.flatMap(({ hours }) => this.#spansOf(hours));
    if (spans.length === 0) return;
    const kept = this.#first.all.filter(
      (candidate) => candidate.row || !behind.some(({ hours }) => this.#isIn(hours, candidate)),
    );
    this.#first = new First(offset + limit, this.#compare);
    for (const candidate of kept) this.#first.add(candidate);
    await mapConcurrent(spans, spansAtOnce, (span) => this.#scan(span));
  }

  /** The spans of hours, those beside each other together. */
  #spansOf(hours: ReadonlyMap<Hour, KnownHour>): TimeBounds[] {
    const spans: { readonly from: number; to: number }[] = [];
    for (const [hour, { hasCalls }] of hours) {
      if (!hasCalls || !this.#isWhole(hour)) continue;
      const from = hour * hourMicros;
      const last = spans.at(-1);
      if (last && last.to === from - 1) last.to = from + hourMicros - 1;
      else spans.push({ from, to: from + hourMicros - 1 });
    }
    return spans;
  }

  /** The calls of the answer, as they are; null if one of them is not what it was known to be. */
  async #look(): Promise<readonly QueriedCall[] | null> {
    const { store, projectId, slice, look } = this.#reading;
    const answered = this.#first.all.slice(slice.offset);
    const known = answered.filter(({ row }) => !row);
    const read = async (endPart: Extreme['endPart']) => {
      const ids = known.filter((candidate) => candidate.endPart === endPart).map(({ id }) => id);
      if (ids.length === 0) return [];
      const parts = endPart === 'S' ? (['S'] as const) : (['S', 'E'] as const);
      return readParts(store, projectId, ids, parts, this.#budget, { consistent: false });
    };
    const parts = Map.groupBy((await Promise.all([read('S'), read('E')])).flat(), ({ id }) => id);
    const headers = [...parts].flatMap(([id, ofCall]) => foldCall({ projectId, id }, ofCall) ?? []);
    const rows = new Map<string, QueriedCall>();
    for (const row of await look(headers.map((header) => new QueriedCall(header))))
      rows.set(row.header.id, row);
    const found: CallHeader[] = [];
    for (const candidate of answered) {
      const row = candidate.row ?? rows.get(candidate.id);
      if (!row || this.#compare(this.#toCandidate(row), candidate) !== 0) return null;
      found.push(row.header);
    }
    return found.map((header) => new QueriedCall(header));
  }

  /** Notes what was read of hours that can no more change without a mark. */
  async #save(prices: string, spans: readonly TimeBounds[]): Promise<void> {
    const { table, projectId, plan } = this.#reading;
    const isFresh = (hour: Hour): boolean =>
      finishedAt(hour) <= this.#begun &&
      this.#mark(hour) <= this.#begun &&
      this.#begun < rollupEnd(hour, this.#getDays(hour)) &&
      this.#read.get(hour)?.isOdd !== true &&
      spans.some((span) => this.#isWhole(hour, span));
    const withCalls = [...this.#read.keys()].filter(isFresh);
    const calls = withCalls.reduce((sum, hour) => sum + (this.#read.get(hour)?.first.count ?? 0), 0);
    if (calls < callsToNote && spans.length <= spansToNote) return;
    const known = this.#days.flatMap(({ hours }) =>
      [...hours].flatMap(([hour, { hasCalls }]) => (hasCalls ? hour : [])),
    );
    const [low, high] = [...withCalls, ...known].reduce(
      ([a, b], hour) => [Math.min(a, hour), Math.max(b, hour)],
      [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    );
    const byDay = new Map(this.#days.map((day) => [day.known.day, day]));
    const noted: DayExtremes[] = [];
    const end = Math.max(toDay(low), toDay(high) - maxStoredDays);
    for (let day = toDay(high); day >= end; day--) {
      const hours = Array.from({ length: hoursOfDay }, (_, i) => day * hoursOfDay + i);
      const fresh = hours.filter(
        (hour) => hour >= low && hour <= high && !byDay.get(day)?.hours.has(hour) && isFresh(hour),
      );
      if (fresh.length > 0) noted.push(this.#merge(day, prices, fresh, byDay.get(day)));
    }
    const spent = { ...this.#budget, deadline: Math.min(this.#budget.deadline, Date.now() + storeMs) };
    const worth = noted.filter(({ entries, hasMore }) => entries.length > 0 || !hasMore);
    await storeExtremes(table, projectId, plan.order, worth, (hour) => this.#getDays(hour), spent);
  }

  /** What is known of a day with hours that were read. */
  #merge(day: number, prices: string, fresh: readonly Hour[], before: KnownDay | undefined): DayExtremes {
    const first = new First<Candidate>(maxExtremes, this.#compare);
    const hours = new Map(before?.hours);
    const last = before?.known.hasMore ? before.known.entries.at(-1) : undefined;
    const end = last && toCandidate(last);
    let hasMore = before?.known.hasMore ?? false;
    for (const entry of before?.known.entries ?? [])
      if (hours.has(toHour(entry.startedAt))) first.add(toCandidate(entry));
    for (const hour of fresh) {
      const read = this.#read.get(hour);
      hours.set(hour, { mark: this.#mark(hour), hasCalls: read !== undefined });
      for (const candidate of read?.first.all ?? []) {
        // What was known before says nothing of calls behind the last one.
        if (!end || this.#compare(candidate, end) <= 0) first.add(candidate);
      }
      hasMore ||= read?.first.hasMore === true;
    }
    const entries = first.all;
    return { day, prices, hours, entries, hasMore: hasMore || first.hasMore };
  }

  #mark(hour: Hour): number {
    return this.#marks.get(hour) ?? 0;
  }

  /** The fewest days after which calls of an hour expire. */
  #getDays(hour: Hour): number | undefined {
    return fewerDays(this.#reading.store.retentionDays, getFewestDays(this.#retention, hour * hourMs));
  }
}

const toCandidate = (entry: Extreme): Candidate => ({
  ...entry,
  key: [sortable(entry.value)],
  row: null,
});

/**
 * Finds the calls that come first, by what is known of finished days where that is enough. What it reads of finished hours
 * it notes, for the next question. Nobody learns if that fails.
 *
 * @returns null if all calls have to be read: the range is short, or a call has changed meanwhile
 * @throws ServiceError 503 when storage does not give something in time
 */
export const findExtremes = async (
  reading: ExtremesReading,
  budget: RequestBudget,
): Promise<readonly QueriedCall[] | null> => {
  const { from, to = Date.now() * 1000 } = reading.bounds;
  return from !== undefined && to - from < shortest ? null : new Extremes(reading, budget).find();
};
