import { everyCall } from '../../../api/queries.ts';
import { readSource } from '../../../api/shared/header-fields.ts';
import { tokenMetrics } from '../../../api/stats.ts';
import { decodeMessagePack, encodeMessagePack, pack, unpack } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  fewerDays,
  type Item,
  putItems,
  type RequestBudget,
  readRange,
  type Store,
  type Table,
} from '../../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../../foundations/wire/index.ts';
import type { PriceInForce, SteadyPrices } from '../../records/costs/index.ts';
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
  type Bins,
  Cell,
  type Group,
  Groups,
  kept,
  type ModelCell,
  type Numbers,
  toDimensions,
} from './cells.ts';
import {
  findHours,
  findUnknownDays,
  gaps,
  type Hours,
  hoursOfTheDay,
  type Knowledge,
  type Span,
  toWholeDays,
} from './hours.ts';
import { type ComputeCosts, type ScanCounts, scanCalls } from './scan.ts';

/** What reading rollups needs to know. */
interface RollupReading {
  readonly store: Store;
  readonly table: Table;
  readonly projectId: ProjectId;
  readonly span: Span;
  readonly edges: readonly Micros[];
  /** What usage cost; undefined if costs are not wanted. */
  readonly computeCosts: ComputeCosts | undefined;
  /** The prices of rollups; undefined if costs are not wanted. */
  readonly prices: SteadyPrices | undefined;
  readonly counts: ScanCounts & { rollups: number };
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
}

/** Takes the calls of a group, all of one bucket, and a time within it. */
type TakeGroup = (group: Group, time: Micros) => void;

/** How long storing rollups may take, in milliseconds. The answer waits for it. */
const storeMs = 3000;
/** The most days that one request stores. */
const maxStoredDays = 400;

/** The rollups of a request: what was read, what was scanned, and what is worth storing. */
class RolledUp {
  readonly hours: Hours;
  readonly #reading: RollupReading;
  /** When it began, before anything was read. */
  readonly #begun: number;
  #marks: ReadonlyMap<Hour, number> = new Map();
  #retention: NotedRetention | undefined;
  readonly #hourly = new Map<Hour, Rollup>();
  readonly #daily = new Map<number, Rollup>();
  readonly #scanned = new Map<Hour, Groups>();

  constructor(reading: RollupReading) {
    this.#reading = reading;
    this.hours = findHours(reading.span, reading.edges);
    this.#begun = reading.now();
  }

  /** Reads marks first, then rollups, and keeps those that count. */
  async read(budget: RequestBudget): Promise<void> {
    const { table, projectId } = this.#reading;
    const { first, last, wholeDays } = this.hours;
    [this.#marks, this.#retention] = await Promise.all([
      readMarks(table, projectId, first, last, budget),
      recallRetention(table, projectId, budget),
    ]);
    const days = toWholeDays(this.hours);
    if (wholeDays)
      for (const [day, rollup] of await readRollups(table, 'days', projectId, days, budget))
        if (rollup.mark === this.#markOfDay(day) && this.#counts(rollup, day * hoursOfDay, hoursOfDay))
          this.#daily.set(day, rollup);
    for (const run of findUnknownDays(this.hours, (day) => this.#daily.has(day)))
      for (const [hour, rollup] of await readRollups(table, 'pages', projectId, run, budget))
        if (this.isWhole(hour) && rollup.mark === this.#mark(hour) && this.#counts(rollup, hour, 1))
          this.#hourly.set(hour, rollup);
  }

  /** What no rollup covers. */
  get gaps(): Span[] {
    return gaps(this.#reading.span, this.hours, (hour) => this.#getKnowledge(hour));
  }

  /** Scans what no rollup covers. Cut hours go to `take` at once, call by call. */
  async scan(take: TakeGroup, budget: RequestBudget): Promise<void> {
    const { store, projectId, computeCosts, counts } = this.#reading;
    const scanned = {
      projectId,
      filter: everyCall,
      where: null,
      attributes: [],
      withUsage: true,
      withFailed: false,
    };
    for (const gap of this.gaps)
      await scanCalls(
        store,
        scanned,
        gap,
        ({ header }, usage) => {
          const { startedAt } = header.start;
          const hour = toHour(startedAt);
          const costs = computeCosts?.(usage, startedAt) ?? {};
          const groups = this.isWhole(hour) ? this.#getGroups(hour) : new Groups(kept);
          groups.cell(toDimensions(header)).add(header, usage, costs);
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
    this.#reading.counts.rollups += this.#daily.size + this.#hourly.size;
  }

  /** Stores the rollups of hours that were scanned and can no more change without a mark. */
  async save(budget: RequestBudget): Promise<void> {
    const { table, projectId, now } = this.#reading;
    const fresh = this.#fresh();
    if (fresh.length === 0) return;
    const rollupsByHour = new Map([
      ...this.#hourly,
      ...fresh.map((rollup) => [rollup.number, rollup] as const),
    ]);
    const changed = [...new Set(fresh.map(({ number }) => Math.floor(number / hoursOfDay)))];
    const days = changed.slice(0, maxStoredDays);
    const whole = this.hours.wholeDays
      ? days.filter((day) => hoursOfTheDay(day).every((hour) => rollupsByHour.has(hour)))
      : [];
    const paged = days.filter((day) => !whole.includes(day));
    const ofDays = whole.map((day) => this.#rollupOfDay(day, rollupsByHour));
    const ofHours = paged.flatMap((day) =>
      hoursOfTheDay(day).flatMap((hour) => rollupsByHour.get(hour) ?? []),
    );
    const spent = { ...budget, deadline: Math.min(budget.deadline, now() + storeMs) };
    await Promise.all([
      storeRollups(table, 'days', projectId, ofDays, this.#getDays, spent),
      storeRollups(table, 'pages', projectId, ofHours, this.#getDays, spent),
    ]);
  }

  /** Whether an hour lies whole in the span and in one bucket. */
  isWhole(hour: Hour): boolean {
    return hour >= this.hours.first && hour <= this.hours.last && !this.hours.isCut(hour);
  }

  /** The fewest days after which calls of an hour expire. */
  readonly #getDays = (hour: Hour): number | undefined =>
    fewerDays(this.#reading.store.retentionDays, getFewestDays(this.#retention, hour * hourMs));

  #mark(hour: Hour): number {
    return this.#marks.get(hour) ?? 0;
  }

  #markOfDay(day: number): number {
    return Math.max(...hoursOfTheDay(day).map((hour) => this.#mark(hour)));
  }

  #rollupAround(hour: Hour): Rollup | undefined {
    return this.#hourly.get(hour) ?? this.#daily.get(Math.floor(hour / hoursOfDay));
  }

  #getKnowledge(hour: Hour): Knowledge {
    const rollup = this.#rollupAround(hour);
    if (!rollup) return 'nothing';
    return rollup.groups.length > 0 ? 'calls' : 'none';
  }

  #getGroups(hour: Hour): Groups {
    const groups = this.#scanned.get(hour) ?? new Groups(kept);
    this.#scanned.set(hour, groups);
    return groups;
  }

  /** Whether a rollup is within the retention, and can tell costs if they are wanted. */
  #counts({ groups }: Rollup, hour: Hour, length: number): boolean {
    const { prices } = this.#reading;
    if (this.#begun >= rollupEnd(hour, this.#getDays(hour))) return false;
    return !prices || addCosts(groups, prices, [hour * hourMicros, (hour + length) * hourMicros]);
  }

  /**
   * Hours without calls are worth storing between others: together with what lies around them, they
   * would be scanned as one range.
   */
  #fresh(): Rollup[] {
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
      const lasts = this.#begun < rollupEnd(number, this.#getDays(number));
      if (!this.isWhole(number) || this.#rollupAround(number) || !isSafe || !lasts) continue;
      fresh.push({ number, mark, groups: this.#scanned.get(number)?.all ?? [] });
    }
    return fresh;
  }

  #rollupOfDay(day: number, rollupsByHour: ReadonlyMap<Hour, Rollup>): Rollup {
    const all = new Groups(kept);
    for (const hour of hoursOfTheDay(day))
      for (const group of rollupsByHour.get(hour)?.groups ?? []) all.cell(group).merge(group.cell);
    return { number: day, mark: this.#markOfDay(day), groups: all.all };
  }
}

/**
 * Gives the calls of a span in groups: from rollups where they count, from headers elsewhere. What
 * it scanned of finished hours it stores, for the next request. Nobody learns if that fails.
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

/**
 * Counts the calls of groups, as far as there are rollups.
 *
 * @returns the spans as well in which others are to be counted, and how many rollups were used
 * @throws ServiceError 503 when storage does not give something in time
 */
export const countGroups = async (
  reading: Pick<RollupReading, 'store' | 'table' | 'projectId' | 'span' | 'now'>,
  isCounted: (group: Group) => boolean,
  budget: RequestBudget,
): Promise<{ readonly count: number; readonly gaps: readonly Span[]; readonly rollups: number }> => {
  const counts = { scanned: 0, hydrated: 0, rollups: 0 };
  const rolledUp = new RolledUp({
    ...reading,
    edges: [],
    computeCosts: undefined,
    prices: undefined,
    counts,
  });
  await rolledUp.read(budget);
  let count = 0;
  rolledUp.giveTo((group) => {
    if (isCounted(group)) count += group.cell.calls;
  });
  return { count, gaps: rolledUp.gaps, rollups: counts.rollups };
};

const set = (numbers: Numbers, count: number, sum: number): void => {
  Object.assign(numbers, { count, sum });
};

/** Sums of costs are those of tokens × the price, as long as it is the same for all calls. */
const addPrice = (cell: ModelCell, price: PriceInForce): void => {
  const { sum: prompt, count } = cell.input_tokens;
  const read = cell.cache_read_input_tokens.sum;
  const written = cell.cache_creation_input_tokens.sum;
  const readCost = read * price.cacheReadTokenCost;
  const writtenCost = written * price.cacheWriteTokenCost;
  const input = (prompt - read - written) * price.promptTokenCost + readCost + writtenCost;
  const output = cell.output_tokens.sum * price.completionTokenCost;
  set(cell.input_cost, count, input);
  set(cell.output_cost, count, output);
  set(cell.total_cost, count, input + output);
  set(cell.cache_read_input_cost, count, readCost);
  set(cell.cache_creation_input_cost, count, writtenCost);
  set(cell.reasoning_cost, count, cell.reasoning_tokens.sum * price.completionTokenCost);
};

/**
 * Works out what the calls of rollups cost: sums and counts, without extremes.
 *
 * @returns false if the price of a model was not the same throughout; the calls have to be scanned
 */
const addCosts = (groups: readonly Group[], prices: SteadyPrices, [from, to]: Span): boolean =>
  groups.every(({ cell }) =>
    [...cell.models].every(([model, usage]) => {
      const price = prices(model, from, to, usage.input_tokens.max);
      if (price) addPrice(usage, price);
      return price !== undefined;
    }),
  );

/** Rollups of hours lie together in pages, one a day; those of days lie by themselves. */
type StoredKind = 'pages' | 'days';

/** The largest item that is stored, in bytes. What is larger is not stored, and scanned instead. */
const maxItemBytes = 300_000;
/** Rollups are forgotten some days after they cease to count, and long before their marks. */
const graceDays = 1;

/**
 * Reads the rollups that are stored of days, from one to another, inclusive. They may be some
 * milliseconds old: whether one counts, its mark says.
 *
 * @throws Error if one is damaged
 */
const readRollups = async (
  table: Table,
  kind: StoredKind,
  projectId: ProjectId,
  [from, to]: readonly [number, number],
  budget: RequestBudget,
): Promise<ReadonlyMap<Hour, Rollup>> => {
  if (from > to) return new Map();
  const toRow = ({ h }: Item) => asBytes(h) ?? new Uint8Array();
  const range = rollupRange(kind, projectId, from, to);
  const found = await Array.fromAsync(readRange(table, range, { toRow }, budget));
  const rollups = await Promise.all(found.flat().map(unpackRollups));
  return new Map(rollups.flat().map((rollup) => [rollup.number, rollup]));
};

/**
 * Stores rollups, which replace those of the same days.
 *
 * @param rollups of hours, or of days
 * @throws ServiceError 503 when some could not be stored in time
 */
export const storeRollups = async (
  table: Table,
  kind: StoredKind,
  projectId: ProjectId,
  rollups: readonly Rollup[],
  getDays: (hour: Hour) => number | undefined,
  budget: RequestBudget,
): Promise<void> => {
  const byDay = Map.groupBy(rollups, ({ number }) => (kind === 'days' ? number : toDay(number)));
  const items = await Promise.all(
    [...byDay].map(
      async ([day, ofDay]): Promise<Item> => ({
        ...rollupKey(kind, projectId, day),
        h: await packRollups(ofDay),
        ...toExpiry(day * hoursOfDay, getDays(day * hoursOfDay), graceDays),
      }),
    ),
  );
  const small = items.filter(({ h }) => (asBytes(h)?.length ?? 0) <= maxItemBytes);
  await putItems(table, small, budget);
};

/*
 * Rollups are stored as one compressed MessagePack list, [version, names, rollups]. A rollup is
 * [number, mark, groups]; a group is [op, user, status, calls, errors, latency, models, source]. Texts are
 * numbers in the list of names.
 */

const version = 1;

/** The rollup of an hour or a day. */
export interface Rollup {
  /** The hour or the day, counted from 1970-01-01. */
  readonly number: number;
  /** The version of the mark that it was made under; 0 for no mark. */
  readonly mark: number;
  readonly groups: readonly Group[];
}

type PackedBins = [first: number, steps: number[], counts: number[]] | null;
type PackedLatency = [
  sum: number,
  min: number,
  max: number,
  zeros: number,
  positive: PackedBins,
  negative: PackedBins,
];
type PackedModel = [name: number, calls: number, ...numbers: (readonly [number, number, number] | 0)[]];
type PackedGroup = [
  op: number,
  user: number,
  status: number,
  calls: number,
  errors: number,
  latency: PackedLatency | null,
  models: PackedModel[],
  /** Releases before sources were told apart have none. */
  source?: number,
];

const packBins = (bins: Bins): PackedBins => {
  const sorted = [...bins].sort(([a], [b]) => a - b);
  const [first] = sorted;
  if (!first) return null;
  const steps = sorted.slice(1).map(([bin], i) => bin - (sorted[i]?.[0] ?? 0));
  return [first[0], steps, sorted.map(([, count]) => count)];
};

const unpackBins = (packed: PackedBins, into: Bins): void => {
  if (packed === null) return;
  const [first, steps, counts] = packed;
  let bin = first;
  into.set(bin, counts[0] ?? 0);
  for (const [i, step] of steps.entries()) {
    bin += step;
    into.set(bin, counts[i + 1] ?? 0);
  }
};

const packLatency = ({ count, sum, min, max, sketch }: Numbers): PackedLatency | null =>
  count === 0 || !sketch
    ? null
    : [sum, min, max, sketch.zeros, packBins(sketch.positive), packBins(sketch.negative)];

const restore = (numbers: Numbers, count: number, sum: number, min: number, max: number): void => {
  Object.assign(numbers, { count, sum, min, max });
};

const unpackLatency = (packed: PackedLatency | null, into: Numbers): void => {
  const { sketch } = into;
  if (packed === null || !sketch) return;
  const [sum, min, max, zeros, positive, negative] = packed;
  sketch.zeros = zeros;
  unpackBins(positive, sketch.positive);
  unpackBins(negative, sketch.negative);
  let count = zeros;
  for (const bins of [sketch.positive, sketch.negative])
    for (const binCount of bins.values()) count += binCount;
  restore(into, count, sum, min, max);
};

const packModel = (name: number, cell: ModelCell): PackedModel => [
  name,
  cell.total_tokens.count,
  ...tokenMetrics.map((metric) => {
    const { sum, min, max } = cell[metric];
    return max === 0 ? 0 : ([sum, min, max] as const);
  }),
];

const unpackModel = ([, calls, ...numbers]: PackedModel, cell: ModelCell): void => {
  for (const [i, metric] of tokenMetrics.entries()) {
    const [sum, min, max] = numbers[i] || [0, 0, 0];
    restore(cell[metric], calls, sum, min, max);
  }
};

/** Packs rollups of hours or days. */
const packRollups = (rollups: readonly Rollup[]): Promise<Uint8Array> => {
  const names = new Map<string, number>();
  const numberName = (text: string): number => {
    const number = names.get(text) ?? names.size;
    names.set(text, number);
    return number;
  };
  const packGroup = ({ opName, userId, status, source, cell }: Group): PackedGroup => [
    numberName(opName),
    numberName(userId),
    numberName(status),
    cell.calls,
    cell.errors,
    packLatency(cell.latency),
    [...cell.models].map(([model, usage]) => packModel(numberName(model), usage)),
    numberName(source),
  ];
  const packed = rollups.map(({ number, mark, groups }) => [number, mark, groups.map(packGroup)]);
  return pack(encodeMessagePack([version, [...names.keys()], packed]));
};

/**
 * Unpacks rollups.
 *
 * @returns without those that another release wrote otherwise: they are made anew
 * @throws Error if the bytes are damaged
 */
const unpackRollups = async (bytes: Uint8Array): Promise<Rollup[]> => {
  const [found, names, packed] = decodeMessagePack(unpack(bytes)) as [
    number,
    string[],
    [number, number, PackedGroup[]][],
  ];
  if (found !== version) return [];
  const unpackGroup = (packedGroup: PackedGroup): Group | undefined => {
    const [op, user, status, calls, errors, latency, models, sourceName] = packedGroup;
    const source = sourceName === undefined ? undefined : readSource(names[sourceName]);
    if (!source) return undefined;
    const cell = new Cell(kept);
    cell.calls = calls;
    cell.errors = errors;
    unpackLatency(latency, cell.latency);
    for (const model of models) unpackModel(model, cell.model(names[model[0]] ?? ''));
    return {
      opName: names[op] ?? '',
      userId: names[user] ?? '',
      status: names[status] ?? '',
      source,
      cell,
    };
  };
  return packed.flatMap(([number, mark, packedGroups]) => {
    const groups = packedGroups.flatMap((group) => unpackGroup(group) ?? []);
    return groups.length === packedGroups.length ? [{ number, mark, groups }] : [];
  });
};
