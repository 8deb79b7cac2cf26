import { everyCall, noIncludes } from '../../../api/queries.ts';
import type { StatsRequest } from '../../../api/stats.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import type { JsonValue, Micros, ProjectId } from '../../../foundations/wire/index.ts';
import { PayloadReader } from '../../records/calls/index.ts';
import { compileTests, plan, type QueriedCall, type Tests } from '../query/index.ts';
import { keepingFor } from './answer.ts';
import type { Cell } from './cells.ts';
import type { Span } from './hours.ts';
import { groupTest, planStats } from './plan.ts';
import { takeRolledUp } from './rollups.ts';
import { type ComputeCosts, costsFor, type ScanCounts, scanCalls } from './scan.ts';
import type { StatsLookups } from './stats.ts';

/** Something that is counted of a span of calls, beside others. */
export interface Ask {
  readonly span: Span;
  /** The times within the span at which another cell begins, ascending. @default - none */
  readonly edges?: readonly Micros[];
  readonly filter: StatsRequest['filter'];
  readonly where: StatsRequest['where'];
  readonly calls: StatsRequest['calls'];
  readonly usage: StatsRequest['usage'];
  /** The cell for calls that start at a time. It keeps what `keepingFor` says of the metrics. */
  readonly cellAt: (startedAt: Micros) => Cell;
}

/** How something was counted: from rollups where there are any, or from all headers of its span. */
export type AskSource = 'rollups' | 'scan';

const getEdges = ({ span: [from, to], edges = [] }: Ask): Micros[] => [from, ...edges, to];

/** Says how something is going to be counted by itself. Pure. */
export const chooseSource = (store: Store, projectId: ProjectId, ask: Ask): AskSource => {
  const [start, end] = ask.span;
  const request = { ...ask, projectId, start, end, granularity: 1, timezone: 'UTC', groupBy: [] };
  return store.bookkeeping ? planStats(request, getEdges(ask)).source : 'scan';
};

const contains = ([from, to]: Span, [start, end]: Span): boolean => from <= start && end <= to;

/** Spans as few as there are without what lies between them, in order. */
export const mergeSpans = (spans: readonly Span[]): Span[] => {
  const union: [from: Micros, to: Micros][] = [];
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    const last = union.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else union.push([from, to]);
  }
  return union;
};

/** What counting together takes. */
interface Counting {
  readonly store: Store;
  readonly projectId: ProjectId;
  readonly lookups: StatsLookups;
  readonly counts: ScanCounts & { rollups: number };
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
  readonly computeCosts: ComputeCosts | undefined;
}

type TestedAsk = readonly [Ask, Tests];

/** How many payloads are read together for conditions on them. */
const payloadsAtOnce = 100;

/** Scans the headers of a span once for all who ask about calls within it. */
const scanFor = async (
  { store, projectId, lookups, counts, computeCosts }: Counting,
  asks: readonly Ask[],
  span: Span,
  budget: RequestBudget,
): Promise<void> => {
  const withUsage = asks.some((ask) => keepingFor(ask).usage);
  const add = (ask: Ask, { header }: QueriedCall, usage: JsonValue): void => {
    const { startedAt } = header.start;
    if (startedAt < ask.span[0] || startedAt >= ask.span[1]) return;
    ask.cellAt(startedAt).add(header, usage, computeCosts?.(usage, startedAt) ?? {});
  };
  const scan = (
    ask: Pick<Ask, 'filter' | 'where'>,
    take: (row: QueriedCall, usage: JsonValue) => unknown,
  ) => {
    const scanned = { projectId, filter: ask.filter, where: ask.where, withUsage, withFailed: false };
    return scanCalls(store, { ...scanned, attributes: [] }, span, take, counts, budget, lookups);
  };
  const [only, ...others] = asks;
  // One alone may have an index that holds fewer calls.
  if (only && others.length === 0) return scan(only, (row, usage) => add(only, row, usage));

  const tested = asks.map((ask): TestedAsk => {
    const query = {
      projectId,
      filter: ask.filter,
      where: ask.where,
      includes: noIncludes,
      columns: null,
      expand: [],
      limit: null,
      offset: 0,
      sort: [],
      returnExpanded: false,
    };
    return [ask, compileTests(query, plan(query, span[1]))];
  });
  const reader = new PayloadReader(store, projectId, budget);
  const readPayloads = async (
    waiting: ReadonlyMap<string, readonly [QueriedCall, JsonValue]>,
  ): Promise<void> => {
    for (const call of await reader.read([...waiting.values()].map(([{ header }]) => header))) {
      const [found, usage] = waiting.get(call.header.id) ?? [];
      if (!found) continue;
      counts.hydrated++;
      const row = found.readAs(call);
      for (const [ask, { onHeader, later }] of tested)
        if (later && onHeader(row) && later(row)) add(ask, row, usage ?? null);
    }
  };
  let waiting = new Map<string, readonly [QueriedCall, JsonValue]>();
  const readWaiting = (): Promise<void> => {
    const some = waiting;
    waiting = new Map();
    return readPayloads(some);
  };
  await scan({ filter: everyCall, where: null }, (row, usage) => {
    let waits = false;
    for (const [ask, { onHeader, later }] of tested) {
      if (!onHeader(row)) continue;
      if (later) waits = true;
      else add(ask, row, usage);
    }
    if (waits) waiting.set(row.header.id, [row, usage]);
    // The scan waits meanwhile, so that no more calls than these are held.
    return waiting.size === payloadsAtOnce ? readWaiting() : undefined;
  });
  await readWaiting();
};

/** Reads the rollups of a span, and the headers of its other hours, once for all who ask. */
const rollUpFor = async (
  { store, projectId, lookups, counts, now, computeCosts }: Counting,
  asks: readonly Ask[],
  span: Span,
  budget: RequestBudget,
): Promise<void> => {
  const { bookkeeping: table } = store;
  if (!table) throw new Error('rollups are asked for, and there are none');
  const inner = asks.flatMap(getEdges).filter((edge) => edge > span[0] && edge < span[1]);
  const edges = [span[0], ...new Set(inner.toSorted((a, b) => a - b)), span[1]];
  const prices = computeCosts && (await lookups.steadyPrices(projectId, budget));
  const tested = asks.map((ask) => [ask, groupTest(ask.filter, ask.where)] as const);
  await takeRolledUp(
    { store, table, projectId, span, edges, computeCosts, prices, counts, now },
    (group, time) => {
      for (const [ask, passes] of tested)
        if (time >= ask.span[0] && time < ask.span[1] && passes(group)) ask.cellAt(time).merge(group.cell);
    },
    budget,
  );
};

/**
 * Counts what several ask of a project's calls, and reads what they share once: each call's header for
 * all that rollups cannot tell, and rollups for the others.
 *
 * @param now the time, in milliseconds since 1970
 * @returns what it read
 */
export const countTogether = async (
  store: Store,
  projectId: ProjectId,
  asks: readonly Ask[],
  budget: RequestBudget,
  lookups: StatsLookups,
  now: () => number = Date.now,
): Promise<Counting['counts']> => {
  const counts = { scanned: 0, hydrated: 0, rollups: 0 };
  const metrics = asks.flatMap(({ usage }) => usage);
  const computeCosts = await costsFor(lookups, projectId, metrics, budget);
  const counting: Counting = { store, projectId, lookups, counts, now, computeCosts };
  const scanned = mergeSpans(
    asks.filter((ask) => chooseSource(store, projectId, ask) === 'scan').map(({ span }) => span),
  );
  const inScan = (ask: Ask) => scanned.some((span) => contains(span, ask.span));
  for (const span of scanned)
    await scanFor(
      counting,
      asks.filter((ask) => contains(span, ask.span)),
      span,
      budget,
    );
  const rest = asks.filter((ask) => !inScan(ask));
  for (const span of mergeSpans(rest.map((ask) => ask.span)))
    await rollUpFor(
      counting,
      rest.filter((ask) => contains(span, ask.span)),
      span,
      budget,
    );
  return counts;
};
