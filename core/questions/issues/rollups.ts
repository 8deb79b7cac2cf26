import {
  asBytes,
  fewerDays,
  type Item,
  putItems,
  type RequestBudget,
  readRange,
  type Table,
} from '../../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../../foundations/wire/index.ts';
import { getFewestDays, type NotedRetention, recallRetention } from '../../records/projects.ts';
import {
  finishedAt,
  type Hour,
  hourMicros,
  hourMs,
  hoursOfDay,
  readMarks,
  rollupEnd,
  rollupKey,
  rollupRange,
  toDay,
  toExpiry,
  toHour,
} from '../../records/rollups.ts';
import {
  findHours,
  findUnknownDays,
  gaps,
  hoursOfTheDay,
  type Knowledge,
  type Span,
  toWholeDays,
} from '../stats/index.ts';
import { findSightings, type IssueCounts, type IssueStores } from './find.ts';
import { type IssueRollup, packIssues, Tallies, unpackIssues } from './tally.ts';

/** What reading issues needs to know. */
export interface IssueReading {
  readonly stores: IssueStores;
  /** Where rollups are; undefined if there are none. */
  readonly table: Table | undefined;
  readonly projectId: ProjectId;
  readonly span: Span;
  /** Whether days need not be told apart by hour. */
  readonly byDay: boolean;
  readonly counts: IssueCounts & { rollups: number };
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
}

/** Rollups of hours lie together in items, one a day; those of days lie by themselves. */
type StoredKind = 'issuePages' | 'issueDays';

/**
 * The largest items that are stored, in bytes. The rarest issues are left out of what is larger: a month of them should
 * take no more than 300 read units.
 */
const maxItemBytes: Readonly<Record<StoredKind, number>> = { issuePages: 128_000, issueDays: 40_000 };
/** How long storing may take, in milliseconds. The answer waits for it. */
const storeMs = 3000;
/** The most days that one request stores. */
const maxStoredDays = 400;
/** Rollups are forgotten some days after they cease to count. */
const graceDays = 1;

const read = async (
  table: Table,
  kind: StoredKind,
  projectId: ProjectId,
  [from, to]: readonly [number, number],
  budget: RequestBudget,
): Promise<IssueRollup[]> => {
  if (from > to) return [];
  const toRow = ({ h }: Item) => asBytes(h) ?? new Uint8Array();
  const found = await Array.fromAsync(
    readRange(table, rollupRange(kind, projectId, from, to), { toRow }, budget),
  );
  return found.flat().flatMap(unpackIssues);
};

/** The rollups of a day: those of its hours, or its own. */
export interface IssuesOfDay {
  readonly kind: StoredKind;
  readonly day: number;
  readonly rollups: readonly IssueRollup[];
}

/**
 * Stores the rollups of days. The rarest issues are taken out of those that are too large.
 *
 * @param getDays after how many days what is known of an hour expires
 * @throws ServiceError 503 when storage does not take them in time
 */
export const storeIssues = async (
  table: Table,
  projectId: ProjectId,
  days: readonly IssuesOfDay[],
  getDays: (hour: Hour) => number | undefined,
  budget: RequestBudget,
): Promise<void> => {
  const toItem = async ({ kind, day, rollups }: IssuesOfDay): Promise<Item> => ({
    ...rollupKey(kind, projectId, day),
    h: await packIssues(rollups, maxItemBytes[kind]),
    ...toExpiry(day * hoursOfDay, getDays(day * hoursOfDay), graceDays),
  });
  await putItems(table, await Promise.all(days.map(toItem)), budget);
};

/** Issues of a span: what rollups have of finished hours, and what was found in the others. */
class IssuesRolledUp {
  readonly #reading: IssueReading;
  /** When it began, before anything was read. */
  readonly #begun: number;
  readonly #hours: ReturnType<typeof findHours>;
  #marks: ReadonlyMap<Hour, number> = new Map();
  #retention: NotedRetention | undefined;
  readonly #daily = new Map<number, Tallies>();
  readonly #hourly = new Map<Hour, Tallies>();
  /** What was found, by the hour, those that are cut included. */
  readonly #found = new Map<Hour, Tallies>();

  constructor(reading: IssueReading) {
    this.#reading = reading;
    this.#hours = findHours(reading.span, []);
    this.#begun = reading.now();
  }

  /** Reads marks first, then rollups, and keeps those that count. */
  async read(budget: RequestBudget): Promise<void> {
    const { table, projectId, byDay } = this.#reading;
    const { first, last } = this.#hours;
    if (!table || first > last) return;
    [this.#marks, this.#retention] = await Promise.all([
      readMarks(table, projectId, first, last, budget),
      recallRetention(table, projectId, budget),
    ]);
    if (byDay)
      for (const { number, mark, tallies } of await read(
        table,
        'issueDays',
        projectId,
        toWholeDays(this.#hours),
        budget,
      ))
        if (mark === this.#markOfDay(number) && this.#counts(number * hoursOfDay))
          this.#daily.set(number, tallies);
    for (const run of findUnknownDays(this.#hours, (day) => this.#daily.has(day)))
      for (const { number, mark, tallies } of await read(table, 'issuePages', projectId, run, budget))
        if (number >= first && number <= last && mark === this.#mark(number) && this.#counts(number))
          this.#hourly.set(number, tallies);
  }

  /** Looks for issues where no rollup tells them. */
  async find(budget: RequestBudget): Promise<void> {
    const { stores, projectId, span, counts } = this.#reading;
    const taker = {
      see: (sighting: Parameters<Tallies['see']>[0]) => this.#tallies(sighting.at).see(sighting),
      seeCall: ({ start }: { readonly start: { readonly startedAt: Micros } }, release: string | null) => {
        const tallies = this.#tallies(start.startedAt);
        tallies.calls++;
        if (release !== null) tallies.seeRelease(release, start.startedAt);
      },
    };
    for (const gap of gaps(span, this.#hours, (hour) => this.#getKnowledge(hour)))
      await findSightings(stores, projectId, gap, taker, counts, budget);
    for (const tallies of this.#found.values()) tallies.bound();
  }

  /** Gives the issues of all hours, each with a time within them. */
  giveTo(take: (tallies: Tallies, time: Micros) => void): void {
    for (const [day, tallies] of this.#daily) take(tallies, day * hoursOfDay * hourMicros);
    for (const hours of [this.#hourly, this.#found])
      for (const [hour, tallies] of hours) take(tallies, hour * hourMicros);
    this.#reading.counts.rollups += this.#daily.size + this.#hourly.size;
  }

  /** Stores what was found of hours that can no more change without a mark. */
  async save(budget: RequestBudget): Promise<void> {
    const { table, projectId, byDay, now } = this.#reading;
    const fresh = this.#fresh();
    if (!table || fresh.size === 0) return;
    const known = new Map([...this.#hourly, ...fresh]);
    const days = [...new Set([...fresh.keys()].map(toDay))].slice(0, maxStoredDays);
    const spent = { ...budget, deadline: Math.min(budget.deadline, now() + storeMs) };
    const toStore = days.map((day): IssuesOfDay => {
      const hours = hoursOfTheDay(day).flatMap((hour) => {
        const tallies = known.get(hour);
        return tallies ? [{ number: hour, mark: this.#mark(hour), tallies }] : [];
      });
      if (!byDay || hours.length < hoursOfDay) return { kind: 'issuePages', day, rollups: hours };
      const tallies = new Tallies();
      for (const hour of hours) tallies.merge(hour.tallies);
      tallies.bound();
      return { kind: 'issueDays', day, rollups: [{ number: day, mark: this.#markOfDay(day), tallies }] };
    });
    await storeIssues(table, projectId, toStore, (hour) => this.#getDays(hour), spent);
  }

  /** The hours that were looked at whole and are worth storing, those between calls without any included. */
  #fresh(): Map<Hour, Tallies> {
    const { first, last } = this.#hours;
    const withCalls = [...this.#found.keys(), ...this.#hourly.keys()];
    for (const day of this.#daily.keys()) withCalls.push(day * hoursOfDay, (day + 1) * hoursOfDay - 1);
    const from = Math.max(
      first,
      withCalls.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
    );
    const to = Math.min(
      last,
      withCalls.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
    );
    const fresh = new Map<Hour, Tallies>();
    for (let hour = from; hour <= to; hour++) {
      const isSafe = finishedAt(hour) <= this.#begun && this.#mark(hour) <= this.#begun;
      if (isSafe && this.#counts(hour) && this.#getKnowledge(hour) === 'nothing')
        fresh.set(hour, this.#found.get(hour) ?? new Tallies());
    }
    return fresh;
  }

  #tallies(at: Micros): Tallies {
    const hour = toHour(at);
    const tallies = this.#found.get(hour) ?? new Tallies();
    this.#found.set(hour, tallies);
    return tallies;
  }

  #mark(hour: Hour): number {
    return this.#marks.get(hour) ?? 0;
  }

  #markOfDay(day: number): number {
    return Math.max(...hoursOfTheDay(day).map((hour) => this.#mark(hour)));
  }

  #getKnowledge(hour: Hour): Knowledge {
    const tallies = this.#hourly.get(hour) ?? this.#daily.get(toDay(hour));
    if (!tallies) return 'nothing';
    return tallies.calls > 0 || tallies.issues.size > 0 ? 'calls' : 'none';
  }

  /** The fewest days after which calls or feedback of an hour expire. */
  #getDays(hour: Hour): number | undefined {
    const { stores } = this.#reading;
    const ofCalls = getFewestDays(this.#retention, hour * hourMs);
    const ofProject = fewerDays(ofCalls, this.#retention?.feedbackDays);
    return fewerDays(fewerDays(stores.calls.retentionDays, stores.feedback.retentionDays), ofProject);
  }

  #counts(hour: Hour): boolean {
    return this.#begun < rollupEnd(hour, this.#getDays(hour));
  }
}

/**
 * Gives the issues of a span: from rollups where they count, looked for elsewhere. What it finds of finished hours it
 * stores, for the next request. Nobody learns if that fails.
 *
 * @throws ServiceError 503 when storage does not give something in time
 */
export const takeIssues = async (
  reading: IssueReading,
  take: (tallies: Tallies, time: Micros) => void,
  budget: RequestBudget,
): Promise<void> => {
  const rolledUp = new IssuesRolledUp(reading);
  await rolledUp.read(budget);
  await rolledUp.find(budget);
  rolledUp.giveTo(take);
  // The answer is whole without it, and the next request stores it.
  await rolledUp.save(budget).catch(() => {});
};
