import { type CallHeader, type CallStore, readHeaders } from '../calls/index.ts';
import { compareBy } from '../expression/index.ts';
import type { Effort } from '../storage/index.ts';
import { type WireNames, wireNames } from '../wire/index.ts';
import { jsonEncoder } from './columns.ts';
import { csvEncoder } from './csv.ts';
import { Enricher, type Lookups, noLookups } from './enrich.ts';
import { type Tests, testsOf } from './filter.ts';
import { inParts, mapAhead } from './flow.ts';
import { joinParts } from './join.ts';
import { locate } from './locate.ts';
import { compareCalls, cut, type Keyed, keyReader, orderTies, sorted } from './order.ts';
import { type Plan, plan } from './plan.ts';
import type { CallsQuery } from './request.ts';
import { CallRow } from './row.ts';
import { scan } from './scan.ts';

/** What answering a query took so far. */
export interface QueryCounts {
  /** Calls found before any filter. */
  scanned: number;
  /** Calls whose payloads were read. */
  hydrated: number;
  /** Calls answered. */
  sent: number;
}

/** A query under way: its plan, the counts as they grow, and the answer in one form or another, each to be taken once. */
export interface QueryAnswer {
  readonly plan: Plan;
  readonly counts: QueryCounts;
  /** The calls as JSON text, one each, in batches that come as soon as they are known. */
  readonly calls: AsyncGenerator<string[]>;
  /** The calls as lines of CSV, after a line that names the columns. */
  readonly csv: AsyncGenerator<string[]>;
  /** The calls as far as they have been looked at to find them. */
  readonly found: AsyncGenerator<readonly CallRow[]>;
}

/** What the stages of a query share. */
interface Query {
  readonly names: WireNames;
  readonly store: CallStore;
  readonly query: CallsQuery;
  readonly plan: Plan;
  readonly tests: Tests;
  readonly enricher: Enricher;
  readonly counts: QueryCounts;
  readonly effort: Effort;
}

/**
 * Answers a query over a project's calls, reading no more of storage than the answer is taken. Ending the iteration ends the scan.
 *
 * @throws ServiceError 503, while the calls are iterated, when storage does not give something in time; 422 when they are too many to be sorted
 */
export const queryCalls = (
  store: CallStore,
  query: CallsQuery,
  effort: Effort,
  lookups: Lookups = noLookups,
): QueryAnswer => {
  const names = wireNames(store.service);
  const planned = plan(names, query);
  const enricher = new Enricher(names, store, query, lookups, effort);
  const tests = testsOf(names, query, planned);
  const counts: QueryCounts = {
    scanned: 0,
    get hydrated() {
      return enricher.hydrated;
    },
    sent: 0,
  };
  const all: Query = { names, store, query, plan: planned.plan, tests, enricher, counts, effort };
  return {
    plan: planned.plan,
    counts,
    calls: encoded(all, jsonEncoder(names, query)),
    csv: csvLines(all),
    found: find(all),
  };
};

async function* csvLines(all: Query): AsyncGenerator<string[]> {
  const { header, line } = csvEncoder(all.names, all.query);
  yield [header];
  yield* encoded(all, line);
}

async function* encoded(all: Query, encode: (row: CallRow) => string): AsyncGenerator<string[]> {
  for await (const batch of answered(all)) {
    all.counts.sent += batch.length;
    yield batch.map(encode);
  }
}

/** How many batches of payloads are fetched while one is used, where all of them will be wanted. */
const batchesAhead = 3;

/** The calls of the answer, with what it shows of them. */
const answered = (all: Query): AsyncGenerator<readonly CallRow[]> => {
  const { plan: planned, enricher } = all;
  return mapAhead(inParts(find(all)), planned.limit === null ? batchesAhead : 0, async (part) =>
    staying(all, part, await enricher.enrich(part, planned.answered)),
  );
};

/** Leaves out calls that do not belong any more where they were found. */
const staying = async (
  all: Query,
  found: readonly CallRow[],
  now: readonly CallRow[],
): Promise<readonly CallRow[]> => {
  const before = new Map(found.map((row) => [row.header.id, row]));
  const changed = now.filter(({ header }) => before.get(header.id)?.header !== header);
  const gone = new Set<CallRow>();
  for (const row of changed) {
    const then = before.get(row.header.id);
    if (then && !(await stays(all, then, row))) gone.add(row);
  }
  return gone.size > 0 ? now.filter((row) => !gone.has(row)) : now;
};

/**
 * Whether a call, which may have been reported again since it was found, still belongs where it was found. One that does not is left
 * out: at its new place, if the tests let it through at all, it is met where the scan has not passed yet.
 */
const stays = async (all: Query, then: CallRow, now: CallRow): Promise<boolean> => {
  if (then.header.start.startedAt !== now.header.start.startedAt || !all.tests.onHeader(now)) return false;
  if (all.plan.needed.length === 0 && all.plan.order === 'free') return true;
  const [row] = await all.enricher.enrich([now], all.plan.needed);
  if (!row || all.tests.later?.(row) === false) return false;
  if (all.plan.order === 'free') return true;
  const keyOf = keyReader(all.query.sort);
  const [old] = await all.enricher.enrich([then], all.plan.needed);
  return old !== undefined && compareBy(all.query.sort)(keyOf(old), keyOf(row)) === 0;
};

/** The calls of the answer, in its order, with what it took to find them. */
async function* find(all: Query): AsyncGenerator<readonly CallRow[]> {
  const { names, plan: planned, query } = all;
  if (planned.order === 'free') {
    yield* cut(planned.offset, planned.limit, matching(all));
    return;
  }
  const keyOf = keyReader(query.sort);
  const keyed = async function* (): AsyncGenerator<Keyed[]> {
    for await (const batch of matching(all))
      yield batch.map((row) => ({ key: keyOf(row), header: row.header }));
  };
  const kept = await sorted(query.sort, planned, keyed());
  for (let i = 0; i < kept.length; i += sortedBatch)
    yield kept.slice(i, i + sortedBatch).map(({ header }) => new CallRow(names, header));
}

/** Sorted calls are fetched in batches of so many. */
const sortedBatch = 500;

/** The calls that pass all tests, in the order of the source. */
async function* matching(all: Query): AsyncGenerator<CallRow[]> {
  const { plan: planned, tests, enricher } = all;
  const passing = passingOnHeader(all);
  if (planned.needed.length === 0) {
    yield* passing;
    return;
  }
  const readsAll = planned.limit === null || planned.order === 'sort';
  yield* mapAhead(inParts(passing), readsAll ? batchesAhead : 0, async (part) => {
    const starts = new Map(part.map(({ header }) => [header.id, header.start.startedAt]));
    const rows = await enricher.enrich(part, planned.needed);
    // What was read again may have been reported again meanwhile.
    const inPlace = ({ header }: CallRow) => header.start.startedAt === starts.get(header.id);
    return rows.filter((row) => inPlace(row) && tests.onHeader(row) && tests.later?.(row) !== false);
  });
}

async function* passingOnHeader({ names, tests, counts, ...all }: Query): AsyncGenerator<CallRow[]> {
  for await (const batch of source({ names, tests, counts, ...all })) {
    counts.scanned += batch.length;
    const kept = batch.map((header) => new CallRow(names, header)).filter(tests.onHeader);
    if (kept.length > 0) yield kept;
  }
}

/** Every call that the plan's source holds, in its order. */
async function* source({ store, query, plan: planned, effort }: Query): AsyncGenerator<CallHeader[]> {
  const { source: place, descending, enough, bounds, order } = planned;
  if (place.kind === 'nothing') return;
  if (place.kind === 'calls') {
    yield (await readHeaders(store, query.projectId, place.ids, effort)).sort(compareCalls(descending));
    return;
  }
  const ranges = await locate(store, query.projectId, place, bounds, effort);
  const readsAll = query.limit === null || order === 'sort';
  const options = {
    descending,
    firstPage: firstPageRows(enough, ranges.length),
    ahead: readsAll && ranges.length <= mostAhead,
  };
  const rows = scan(store, query.projectId, ranges, options, effort);
  const calls = joinParts(store, query.projectId, rows, effort);
  // What is going to be sorted needs no order before.
  yield* order === 'sort' ? calls : orderTies(descending, calls);
}

/** With more ranges than this, none is read ahead: each has up to 1 MB under way. */
const mostAhead = 16;

/**
 * How many rows to ask each range for at first: where it is known how many calls are enough, each range's even share of twice
 * as many rows (a call may have two) and some to spare; else no more than it takes to have something to send at once.
 */
const firstPageRows = (enough: number | null, ranges: number): number =>
  enough === null ? Math.ceil(128 / ranges) + 8 : Math.ceil((2.2 * enough) / ranges) + 8;
