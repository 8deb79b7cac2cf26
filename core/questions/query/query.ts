import type { CallRead, CallsQuery, CallsSelection } from '../../../api/queries.ts';
import { type FieldNames, ownNames } from '../../../foundations/door.ts';
import {
  encodeBatches,
  inBatches,
  inPlannedOrder,
  mapAhead,
  mapBatches,
} from '../../../foundations/listing/index.ts';
import type { RequestBudget, Store, Table } from '../../../foundations/storage/index.ts';
import type { Micros } from '../../../foundations/wire/index.ts';
import {
  type CallHeader,
  hasPreviews,
  type PayloadPointer,
  readCall,
  storageSize,
} from '../../records/calls/index.ts';
import type { TextTest } from '../../records/texts.ts';
import { Enricher, type Lookups, noLookups } from './enrich.ts';
import { type ExtremesReading, findExtremes } from './extremes.ts';
import type { Requirement } from './fields.ts';
import { compileTests, type Tests } from './filter.ts';
import { sortCalls } from './order.ts';
import { answeredRequirements, type Plan, plan } from './plan.ts';
import { csvEncoder, jsonEncoder, QueriedCall } from './queried-call.ts';
import { countStarts, readSource } from './scan.ts';
import { type TextCounts, TextSearch } from './text.ts';

/** What answering a query took so far. */
interface QueryCounts {
  /** Calls found before any filter. */
  scanned: number;
  /** Calls whose payloads were read. */
  hydrated: number;
  /** Calls answered. */
  sent: number;
  /** What a search for a text left out; null for another query. */
  readonly text: TextCounts | null;
  /** Days of which was known which calls come first in the order. */
  days: number;
}

/** A query under way, with the counts as they grow. */
interface UnderWay {
  readonly plan: Plan;
  readonly counts: QueryCounts;
}

/** The answer to a query. It is taken once, in one of its forms. Batches come as soon as they are known. */
export interface QueryAnswer extends UnderWay {
  /** Gives the calls as JSON text, one each. */
  readonly json: () => AsyncGenerator<readonly string[]>;
  /** Gives the calls as lines of CSV, after a line that names the columns. */
  readonly csv: () => AsyncGenerator<readonly string[]>;
}

/** Takes calls as they are read, in the order of the source. */
type Meet = (calls: readonly CallHeader[]) => void;

/** What the stages of a query share. */
interface Query extends UnderWay {
  readonly store: Store;
  readonly query: CallsQuery;
  readonly tests: Tests;
  /** What the texts of calls have to have, if the query looks for a text. */
  readonly text: TextTest | undefined;
  readonly enricher: Enricher;
  /** Whether calls are answered as soon as they are found. */
  readonly early: boolean;
  /** Takes the calls that are read before any filter. */
  readonly meet?: Meet | undefined;
  /** Whether they may be found in any order. */
  readonly unordered?: boolean;
  readonly budget: RequestBudget;
}

/**
 * Answers a query over a project's calls, and reads no more of storage than is taken of the answer.
 * Ending the iteration ends the scan.
 *
 * @throws ServiceError 503, while the calls are iterated, when storage does not give something in
 * time; 422 when there are too many calls to sort
 */
export const queryCalls = (
  store: Store,
  query: CallsQuery,
  budget: RequestBudget,
  lookups: Lookups = noLookups,
  names: FieldNames = ownNames,
): QueryAnswer => {
  const all = startQuery(store, query, true, lookups, budget);
  const { plan: planned, counts } = all;
  return {
    plan: planned,
    counts,
    json: () => encodeBatches(answered(all), counts, jsonEncoder(query, names)),
    csv: () => csvLines(all),
  };
};

const startQuery = (
  store: Store,
  query: CallsQuery,
  early: boolean,
  lookups: Lookups,
  budget: RequestBudget,
  meet?: Meet,
): Query => {
  const planned = plan(query, Date.now() * 1000);
  const enricher = new Enricher(store, query, lookups, budget, planned.plan.totals);
  const counts: QueryCounts = {
    scanned: 0,
    get hydrated() {
      return enricher.hydrated;
    },
    sent: 0,
    // Who wants to meet all calls of the source leaves none out.
    text: planned.text && store.bookkeeping && !meet ? { groups: 0, leftOut: 0, noted: 0 } : null,
    days: 0,
  };
  const tests = compileTests(query, planned);
  const { plan: plannedQuery, text } = planned;
  return { store, query, plan: plannedQuery, tests, text, enricher, counts, early, meet, budget };
};

async function* csvLines(all: Query): AsyncGenerator<readonly string[]> {
  const { header, line } = csvEncoder(all.query);
  yield [header];
  yield* encodeBatches(answered(all), all.counts, line);
}

/** Payloads are read in batches of so many bytes, or one call. */
const batchBytes = 4 * 1024 * 1024;
/** About what one preview takes. */
const previewBytes = 1024;
/** How many batches of payloads are fetched while one is used, when all of them will be wanted. */
const batchesAhead = 3;

/** Tells the bytes of JSON text that are read of a call: previews beside a payload take hardly any. */
const bytesToRead = (requirements: readonly Requirement[]): ((row: QueriedCall) => number) => {
  const alone =
    requirements.includes('preview') && !requirements.some((name) => /payload|expanded/.test(name));
  const getBytes = ({ segment, length }: PayloadPointer): number =>
    alone && segment !== null && hasPreviews(segment) ? previewBytes : length;
  return ({ header: { start, end } }) => getBytes(start.payload) + (end ? getBytes(end.payload) : 0);
};

/** The calls of the answer, with what it shows of them. */
const answered = (all: Query): AsyncGenerator<readonly QueriedCall[]> => {
  const { plan: planned, enricher } = all;
  const isFirst = firstMeeting();
  const ahead = planned.limit === null ? batchesAhead : 0;
  return mapAhead(inBatches(find(all), batchBytes, bytesToRead(planned.answered)), ahead, async (batch) => {
    const rows = (await enricher.enrich(batch, planned.answered)).filter(isFirst);
    const failing = new Set<QueriedCall>();
    for (const row of rows) if (row.found !== row.header && !(await stillPasses(all, row))) failing.add(row);
    return failing.size > 0 ? rows.filter((row) => !failing.has(row)) : rows;
  });
};

/**
 * Tells whether a call is met for the first time. One that is moved in time while it is read can be
 * met twice, at its old position and at its new one. It is taken once, as it is by then.
 */
const firstMeeting = (): ((row: QueriedCall) => boolean) => {
  const moved = new Set<string>();
  return ({ found, header }) => {
    if (moved.has(header.id)) return false;
    if (found.start.startedAt !== header.start.startedAt) moved.add(header.id);
    return true;
  };
};

/** Whether a call still matches that was reported again since it was found. */
const stillPasses = async ({ tests, plan: planned, enricher }: Query, row: QueriedCall): Promise<boolean> => {
  if (!tests.onHeader(row)) return false;
  if (!tests.later) return true;
  const [enriched] = await enricher.enrich([row], planned.required);
  return enriched !== undefined && tests.later(enriched);
};

/** The calls of the answer, in its order, with what has been fetched to find them. */
const find = (all: Query): AsyncGenerator<readonly QueriedCall[]> => {
  const { plan: planned, query } = all;
  const passing = matching(all);
  return inPlannedOrder(planned, passing, async () => {
    const extremes = await findFirst(all);
    if (extremes) return extremes;
    const headers = await sortCalls(query.sort, planned, passing);
    return headers.map((header) => new QueriedCall(header));
  });
};

/** The first calls of an order, if they are asked for, and what is known of finished days can tell them. */
const findFirst = async (all: Query): Promise<readonly QueriedCall[] | null> => {
  const { store, query, plan: planned, enricher, tests, counts, meet, budget } = all;
  const { extremes, bounds, offset, limit, required } = planned;
  if (!extremes || limit === null || !store.bookkeeping || meet) return null;
  const isFirst = firstMeeting();
  const reading: ExtremesReading = {
    store,
    table: store.bookkeeping,
    projectId: query.projectId,
    plan: extremes,
    sort: query.sort,
    slice: { offset, limit },
    bounds,
    scan: (span) => matchingWithin(all, { ...planned, bounds: span }, isFirst),
    look: async (rows) => (await enricher.enrich(rows, required)).filter(tests.onHeader),
    prices: () => enricher.pricesVersion(),
    counts,
  };
  return findExtremes(reading, budget);
};

/** The calls that pass all tests, in the order of the source. */
const matching = (all: Query): AsyncGenerator<readonly QueriedCall[]> => {
  const { store, text, counts } = all;
  const isFirst = firstMeeting();
  return text && store.bookkeeping && counts.text
    ? matchingByText(all, { text, table: store.bookkeeping, counts: counts.text }, isFirst)
    : matchingWithin(all, all.plan, isFirst);
};

/** Looks for a text, and leaves out what is known not to have it. */
async function* matchingByText(
  all: Query,
  { text, table, counts }: { readonly text: TextTest; readonly table: Table; readonly counts: TextCounts },
  isFirst: (row: QueriedCall) => boolean,
): AsyncGenerator<readonly QueriedCall[]> {
  const { store, query, plan: planned, budget } = all;
  const { bounds, descending, source } = planned;
  const reading = { store, table, projectId: query.projectId, test: text, bounds, descending, counts };
  const search = new TextSearch(reading, budget);
  const readsAll =
    source.kind === 'project' && source.levels.length > 1 && planned.required.includes('payload');
  try {
    for await (const { from, to, isNew, mayHave } of search.spans()) {
      const span = {
        ...planned,
        bounds: { ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
      };
      if (!isNew) {
        yield* matchingWithin(all, span, isFirst, { mayHave });
        continue;
      }
      const notes = readsAll ? search : undefined;
      notes?.begin(span.bounds);
      yield* matchingWithin(all, span, isFirst, { notes });
      await notes?.end();
    }
  } finally {
    await search.save();
  }
}

/** How a search for a text goes through a span. */
interface SpanSearch {
  /** Whether calls of a time may have it. @default - all may */
  readonly mayHave?: (startedAt: Micros) => boolean;
  /** Notes what all calls of the span have. @default - nothing does */
  readonly notes?: TextSearch | undefined;
}

/** The calls that pass all tests within the bounds of a plan, in the order of the source. */
const matchingWithin = (
  all: Query,
  planned: Plan,
  isFirst: (row: QueriedCall) => boolean,
  { mayHave, notes }: SpanSearch = {},
): AsyncGenerator<readonly QueriedCall[]> => {
  const { store, query, tests, enricher, counts, early, meet, unordered, budget } = all;
  const passes = mayHave
    ? (row: QueriedCall) => mayHave(row.header.start.startedAt) && tests.onHeader(row)
    : tests.onHeader;
  const passing = mapBatches(
    readSource(store, query.projectId, planned, early, budget, unordered),
    (batch) => {
      counts.scanned += batch.length;
      meet?.(batch);
      const rows = batch.map((header) => new QueriedCall(header));
      return notes ? notes.choose(rows, passes) : rows.filter(passes);
    },
  );
  if (planned.required.length === 0) return passing;
  const readsAll = planned.limit === null || planned.order === 'sort';
  const batches = inBatches(passing, batchBytes, bytesToRead(planned.required));
  const enriched = mapAhead(batches, readsAll ? batchesAhead : 0, (batch) =>
    enricher.enrich(batch, planned.required),
  );
  return mapBatches(enriched, async (rows) => {
    await notes?.take(rows);
    // What was read again may have been reported again meanwhile.
    return rows.filter((row) => isFirst(row) && tests.onHeader(row) && tests.later?.(row) !== false);
  });
};

/**
 * Reads one whole call by its id, strongly consistent, as JSON text.
 *
 * @returns null if there is no call, or no start of it yet
 * @throws ServiceError 503 when storage does not give it in time
 */
export const readCallJson = async (
  store: Store,
  { projectId, id, includes }: CallRead,
  budget: RequestBudget,
  lookups: Lookups = noLookups,
  names: FieldNames = ownNames,
): Promise<string | null> => {
  const call = await readCall(store, projectId, id, budget);
  if (call === null) return null;
  const query = { projectId, includes, columns: null, expand: [], returnExpanded: false };
  const required = answeredRequirements(query);
  const enricher = new Enricher(store, query, lookups, budget);
  const [row] = await enricher.enrich([new QueriedCall(call.header, call.payload)], required);
  return row ? jsonEncoder(query, names)(row) : null;
};

/** Calls of which nothing is answered. */
interface FoundCalls extends UnderWay {
  /** The calls as far as they have been looked at to find them. */
  readonly found: AsyncGenerator<readonly QueriedCall[]>;
  /** Adds the feedback on calls that were found. */
  readonly withFeedback: (calls: readonly QueriedCall[]) => Promise<readonly QueriedCall[]>;
}

/**
 * Finds calls, in the order in which they started, for readers who want all of them. It reads no more of
 * each than it takes to find it. A function needs the access `query` of `calls` (`api/access.ts`) for it: the
 * indexes, and `BatchGetItem` as {@link joinParts} has it.
 *
 * @param columns the columns that the reader will want. They come with their headers where they lie
 * beside them
 * @param meet takes all calls that are read, before any filter, and before they are found
 * @param unordered whether the reader takes all of them in any order, which is quicker
 * @throws ServiceError as {@link queryCalls} does
 */
export const findCalls = (
  store: Store,
  selection: CallsSelection,
  budget: RequestBudget,
  lookups: Lookups = noLookups,
  columns: readonly string[] = [],
  meet?: Meet,
  unordered = false,
): FoundCalls => {
  const query: CallsQuery = {
    expand: [],
    ...selection,
    offset: 0,
    sort: [],
    columns: [...columns],
    returnExpanded: false,
  };
  const all = { ...startQuery(store, query, false, lookups, budget, meet), unordered };
  return {
    plan: all.plan,
    counts: all.counts,
    found: find(all),
    withFeedback: (calls) => all.enricher.enrich(calls, ['feedback']),
  };
};

/** How many calls a selection has, and their bytes of JSON as they were received. */
export interface CallsStats {
  readonly count: number;
  readonly bytes: number;
}

/**
 * Counts calls. It takes no look at them if all of a place are asked for.
 *
 * @param withBytes whether their bytes are wanted too. They are 0 otherwise
 * @returns the query under way as well, for its plan and what it took
 * @throws ServiceError 503 when storage does not give something in time
 */
export const countCalls = (
  store: Store,
  { withBytes, ...selection }: CallsSelection & { readonly withBytes: boolean },
  budget: RequestBudget,
  lookups?: Lookups,
): { readonly query: FoundCalls; readonly stats: () => Promise<CallsStats> } => {
  const query = findCalls(store, selection, budget, lookups, [], undefined, selection.limit === null);
  const stats = async (): Promise<CallsStats> => {
    const { source, dropsNone, bounds, limit } = query.plan;
    if (dropsNone && limit === null && source.kind === 'project' && !withBytes) {
      const count = await countStarts(store, selection.projectId, source.levels, bounds, budget);
      query.counts.scanned += count;
      return { count, bytes: 0 };
    }
    let count = 0;
    let bytes = 0;
    for await (const batch of query.found) {
      count += batch.length;
      if (withBytes) for (const { header } of batch) bytes += storageSize(header);
    }
    return { count, bytes };
  };
  return { query, stats };
};
