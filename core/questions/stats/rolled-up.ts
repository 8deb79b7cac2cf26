import type { RequestBudget, Store, Table } from '../../foundations/storage/index.ts';
import type { JsonValue, Micros, ProjectId } from '../../foundations/wire/index.ts';
import type { Costs, SteadyPrices } from '../../records/costs/index.ts';
import {
  finishedAt,
  type Hour,
  hourMicros,
  hourOf,
  hoursOfDay,
  readMarks,
  rollupEnd,
} from '../../records/rollups.ts';
import { type CallsFilter, everyCall } from '../query/index.ts';
import { kept } from './cell.ts';
import type { Rollup } from './codec.ts';
import { dimensionsOf, type Group, Groups } from './group.ts';
import { addCosts } from './rollup-costs.ts';
import { type ScanCounts, scanCalls } from './scan.ts';
import { daysOf, gaps, type Hours, hoursOf, hoursOfTheDay, type Knowledge, type Span } from './span.ts';
import { readRollups, storeRollups } from './stored.ts';

/** What reading rollups needs to know. */
export interface RollupReading {
  readonly store: Store;
  readonly table: Table;
  readonly projectId: ProjectId;
  readonly span: Span;
  readonly edges: readonly Micros[];
  /** What usage cost at a time; undefined if costs are not wanted. */
  readonly costsOf: ((usage: JsonValue, startedAt: Micros) => Costs) | undefined;
  /** The prices of rollups; undefined if costs are not wanted. */
  readonly prices: SteadyPrices | undefined;
  readonly counts: ScanCounts & { rollups: number };
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
}

/** Takes the calls of a group, all of one bucket, and a time within it. */
export type TakeGroup = (group: Group, time: Micros) => void;

/** How long storing rollups may take, in milliseconds. The answer waits for it. */
const storeMs = 3000;
/** The most days that one request stores. */
const maxStoredDays = 400;

const everything: CallsFilter = everyCall;

/** The rollups of a request: what was read, what was scanned, and what is worth storing. */
class RolledUp {
  readonly hours: Hours;
  readonly #reading: RollupReading;
  /** When it began, before anything was read. */
  readonly #begun: number;
  #marks: ReadonlyMap<Hour, number> = new Map();
  readonly #hourly = new Map<Hour, Rollup>();
  readonly #daily = new Map<number, Rollup>();
  readonly #scanned = new Map<Hour, Groups>();

  constructor(reading: RollupReading) {
    this.#reading = reading;
    this.hours = hoursOf(reading.span, reading.edges);
    this.#begun = reading.now();
  }

  /** Reads marks first, then rollups, and keeps those that count. */
  async read(budget: RequestBudget): Promise<void> {
    const { table, projectId } = this.#reading;
    const { first, last, wholeDays } = this.hours;
    this.#marks = await readMarks(table, projectId, first, last, budget);
    const days = daysOf(this.hours);
    if (wholeDays)
      for (const [day, rollup] of await readRollups(table, 'days', projectId, days, budget))
        if (rollup.mark === this.#markOfDay(day) && this.#counts(rollup, day * hoursOfDay, hoursOfDay))
          this.#daily.set(day, rollup);
    for (const run of this.#daysWithoutRollup())
      for (const [hour, rollup] of await readRollups(table, 'pages', projectId, run, budget))
        if (this.isWhole(hour) && rollup.mark === this.#mark(hour) && this.#counts(rollup, hour, 1))
          this.#hourly.set(hour, rollup);
  }

  /** Scans what no rollup covers. Cut hours go to `take` at once, call by call. */
  async scan(take: TakeGroup, budget: RequestBudget): Promise<void> {
    const { store, projectId, span, costsOf, counts } = this.#reading;
    const scanned = { projectId, filter: everything, where: null, withUsage: true, withFailed: false };
    for (const gap of gaps(span, this.hours, (hour) => this.#knowledgeOf(hour)))
      await scanCalls(
        store,
        scanned,
        gap,
        (header, usage) => {
          const { startedAt } = header.start;
          const hour = hourOf(startedAt);
          const costs = costsOf?.(usage, startedAt) ?? {};
          const groups = this.isWhole(hour) ? this.#groupsOf(hour) : new Groups(kept);
          groups.cell(dimensionsOf(header)).add(header, usage, costs);
          if (!this.isWhole(hour)) for (const group of groups.all) take(group, startedAt);
        },
        counts,
        budget,
      );
  }

  /** Gives the groups of all whole hours. */
  giveTo(take: TakeGroup): void {
    for (const [day, { groups }] of this.#daily)
      for (const group of groups) take(group, day * hoursOfDay * hourMicros);
    for (const [hour, { groups }] of this.#hourly) for (const group of groups) take(group, hour * hourMicros);
    for (const [hour, groups] of this.#scanned)
      for (const group of groups.all) take(group, hour * hourMicros);
    this.#reading.counts.rollups = this.#daily.size + this.#hourly.size;
  }

  /** Stores the rollups of hours that were scanned and can no more change without a mark. */
  async save(budget: RequestBudget): Promise<void> {
    const { table, projectId, store, now } = this.#reading;
    const fresh = this.#fresh();
    if (fresh.length === 0) return;
    const made = new Map([...this.#hourly, ...fresh.map((rollup) => [rollup.number, rollup] as const)]);
    const changed = [...new Set(fresh.map(({ number }) => Math.floor(number / hoursOfDay)))];
    const days = changed.slice(0, maxStoredDays);
    const whole = this.hours.wholeDays
      ? days.filter((day) => hoursOfTheDay(day).every((hour) => made.has(hour)))
      : [];
    const paged = days.filter((day) => !whole.includes(day));
    const ofDays = whole.map((day) => this.#rollupOfDay(day, made));
    const ofHours = paged.flatMap((day) => hoursOfTheDay(day).flatMap((hour) => made.get(hour) ?? []));
    const spent = { ...budget, deadline: Math.min(budget.deadline, now() + storeMs) };
    await Promise.all([
      storeRollups(table, 'days', projectId, ofDays, store.retentionDays, spent),
      storeRollups(table, 'pages', projectId, ofHours, store.retentionDays, spent),
    ]);
  }

  /** Whether an hour lies whole in the span and in one bucket. */
  isWhole(hour: Hour): boolean {
    return hour >= this.hours.first && hour <= this.hours.last && !this.hours.isCut(hour);
  }

  #mark(hour: Hour): number {
    return this.#marks.get(hour) ?? 0;
  }

  #markOfDay(day: number): number {
    return Math.max(...hoursOfTheDay(day).map((hour) => this.#mark(hour)));
  }

  #rollupAround(hour: Hour): Rollup | undefined {
    return this.#hourly.get(hour) ?? this.#daily.get(Math.floor(hour / hoursOfDay));
  }

  #knowledgeOf(hour: Hour): Knowledge {
    const rollup = this.#rollupAround(hour);
    if (!rollup) return 'nothing';
    return rollup.groups.length > 0 ? 'calls' : 'none';
  }

  #groupsOf(hour: Hour): Groups {
    const groups = this.#scanned.get(hour) ?? new Groups(kept);
    this.#scanned.set(hour, groups);
    return groups;
  }

  /** Whether a rollup is within the retention, and can tell costs if they are wanted. */
  #counts({ groups }: Rollup, hour: Hour, length: number): boolean {
    const { store, prices } = this.#reading;
    if (this.#begun >= rollupEnd(hour, store.retentionDays)) return false;
    return !prices || addCosts(groups, prices, [hour * hourMicros, (hour + length) * hourMicros]);
  }

  #daysWithoutRollup(): (readonly [number, number])[] {
    const { first, last } = this.hours;
    const runs: [number, number][] = [];
    for (let day = Math.floor(first / hoursOfDay); day <= Math.floor(last / hoursOfDay); day++) {
      if (this.#daily.has(day)) continue;
      const run = runs.at(-1);
      if (run && run[1] === day - 1) run[1] = day;
      else runs.push([day, day]);
    }
    return runs;
  }

  /**
   * Hours without calls are worth storing between others: together with what lies around them, they
   * would be scanned as one range.
   */
  #fresh(): Rollup[] {
    const { store } = this.#reading;
    const withCalls = [...this.#scanned.keys(), ...this.#hourly.keys()];
    for (const day of this.#daily.keys()) withCalls.push(day * hoursOfDay, (day + 1) * hoursOfDay - 1);
    const [from, to] = withCalls.reduce(
      ([low, high], hour) => [Math.min(low, hour), Math.max(high, hour)],
      [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    );
    const fresh: Rollup[] = [];
    for (let number = from; number <= to; number++) {
      const mark = this.#mark(number);
      const isSafe = finishedAt(number) <= this.#begun && mark <= this.#begun;
      const lasts = this.#begun < rollupEnd(number, store.retentionDays);
      if (!this.isWhole(number) || this.#rollupAround(number) || !isSafe || !lasts) continue;
      fresh.push({ number, mark, groups: this.#scanned.get(number)?.all ?? [] });
    }
    return fresh;
  }

  #rollupOfDay(day: number, made: ReadonlyMap<Hour, Rollup>): Rollup {
    const all = new Groups(kept);
    for (const hour of hoursOfTheDay(day))
      for (const group of made.get(hour)?.groups ?? []) all.cell(group).merge(group.cell);
    return { number: day, mark: this.#markOfDay(day), groups: all.all };
  }
}

/**
 * Gives the calls of a span in groups: from rollups where they count, from headers elsewhere. What
 * it scanned of finished hours it stores, for the next request. Nobody learns if that fails.
 *
 * @throws ServiceError 503 when storage does not give something in time
 */
export const takeRolledUp = async (
  reading: RollupReading,
  take: TakeGroup,
  budget: RequestBudget,
): Promise<void> => {
  const rolledUp = new RolledUp(reading);
  await rolledUp.read(budget);
  await rolledUp.scan(take, budget);
  rolledUp.giveTo(take);
  // The answer is whole without it, and the next request stores it.
  await rolledUp.save(budget).catch(() => {});
};
