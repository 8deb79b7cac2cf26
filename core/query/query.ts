import type { RequestBudget, Store } from '../storage/index.ts';
import type { WireNames } from '../wire/index.ts';
import { jsonEncoder } from './columns.ts';
import { csvEncoder } from './csv.ts';
import { Enricher, type Lookups, noLookups } from './enrich.ts';
import { type Tests, testsOf } from './filter.ts';
import { inParts, mapAhead } from './flow.ts';
import { cut, type Keyed, keyReader, sorted } from './order.ts';
import { type Plan, plan } from './plan.ts';
import type { CallsQuery } from './request.ts';
import { CallRow } from './row.ts';
import { readSource } from './source.ts';

/** What answering a query took so far. */
export interface QueryCounts {
  /** Calls found before any filter. */
  scanned: number;
  /** Calls whose payloads were read. */
  hydrated: number;
  /** Calls answered. */
  sent: number;
}

/**
 * A query under way: its plan, the counts as they grow, and the answer in one form or another, each
 * to be taken once.
 */
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
  readonly store: Store;
  readonly query: CallsQuery;
  readonly plan: Plan;
  readonly tests: Tests;
  readonly enricher: Enricher;
  readonly counts: QueryCounts;
  readonly budget: RequestBudget;
}

/**
 * Answers a query over a project's calls, reading no more of storage than the answer is taken.
 * Ending the iteration ends the scan.
 *
 * @throws ServiceError 503, while the calls are iterated, when storage does not give something in
 * time; 422 when they are too many to be sorted
 */
export const queryCalls = (
  store: Store,
  query: CallsQuery,
  budget: RequestBudget,
  lookups: Lookups = noLookups,
): QueryAnswer => {
  const { names } = store;
  const planned = plan(names, query);
  const enricher = new Enricher(names, store, query, lookups, budget);
  const tests = testsOf(names, query, planned);
  const counts: QueryCounts = {
    scanned: 0,
    get hydrated() {
      return enricher.hydrated;
    },
    sent: 0,
  };
  const all: Query = { names, store, query, plan: planned.plan, tests, enricher, counts, budget };
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
  const isFirst = firstMeeting();
  return mapAhead(inParts(find(all)), planned.limit === null ? batchesAhead : 0, async (part) => {
    const rows = (await enricher.enrich(part, planned.answered)).filter(isFirst);
    const failing = new Set<CallRow>();
    for (const row of rows) if (row.found !== row.header && !(await stillPasses(all, row))) failing.add(row);
    return failing.size > 0 ? rows.filter((row) => !failing.has(row)) : rows;
  });
};

/**
 * A call that is moved in time while it is read can be met at its old place and at its new one. It
 * is taken where it is met first, as it is by then, and not again.
 */
const firstMeeting = (): ((row: CallRow) => boolean) => {
  const moved = new Set<string>();
  return ({ found, header }) => {
    if (moved.has(header.id)) return false;
    if (found.start.startedAt !== header.start.startedAt) moved.add(header.id);
    return true;
  };
};

/** Whether a call that was reported again since it was found is still one that was asked for. */
const stillPasses = async ({ tests, plan: planned, enricher }: Query, row: CallRow): Promise<boolean> => {
  if (!tests.onHeader(row)) return false;
  if (!tests.later) return true;
  const [enriched] = await enricher.enrich([row], planned.needed);
  return enriched !== undefined && tests.later(enriched);
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
  const isFirst = firstMeeting();
  yield* mapAhead(inParts(passing), readsAll ? batchesAhead : 0, async (part) => {
    const rows = await enricher.enrich(part, planned.needed);
    // What was read again may have been reported again meanwhile.
    return rows.filter((row) => isFirst(row) && tests.onHeader(row) && tests.later?.(row) !== false);
  });
}

/** The calls of the source that pass the tests of headers. */
async function* passingOnHeader(all: Query): AsyncGenerator<CallRow[]> {
  const { names, store, query, plan: planned, tests, counts, budget } = all;
  for await (const batch of readSource(store, query.projectId, planned, budget)) {
    counts.scanned += batch.length;
    const kept = batch.map((header) => new CallRow(names, header)).filter(tests.onHeader);
    if (kept.length > 0) yield kept;
  }
}
