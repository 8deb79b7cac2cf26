import {
  type CallHeader,
  type CallStore,
  callJson,
  type Payload,
  PayloadReader,
  readHeaders,
} from '../calls/index.ts';
import type { Effort } from '../storage/index.ts';
import { type WireNames, wireNames } from '../wire/index.ts';
import { projectedJson, projectionOf } from './columns.ts';
import { headerFilter, payloadFilter } from './filter.ts';
import { joinParts } from './join.ts';
import { locate } from './locate.ts';
import { compareCalls, cut, orderTies } from './order.ts';
import { type Plan, plan } from './plan.ts';
import type { CallsQuery } from './request.ts';
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

/** A query under way: its plan, the counts as they grow, and the answer. */
export interface QueryAnswer {
  readonly plan: Plan;
  readonly counts: QueryCounts;
  /** The calls as JSON text, one each, in batches that come as soon as they are known. */
  readonly calls: AsyncGenerator<string[]>;
}

/**
 * Answers a query over a project's calls, reading no more of storage than the answer is taken. Ending the iteration ends the scan.
 *
 * @throws ServiceError 503, while the calls are iterated, when storage does not give something in time
 */
export const queryCalls = (store: CallStore, query: CallsQuery, effort: Effort): QueryAnswer => {
  const planned = plan(query);
  const counts: QueryCounts = { scanned: 0, hydrated: 0, sent: 0 };
  return { plan: planned, counts, calls: answer(store, query, planned, counts, effort) };
};

async function* answer(
  store: CallStore,
  query: CallsQuery,
  planned: Plan,
  counts: QueryCounts,
  effort: Effort,
): AsyncGenerator<string[]> {
  const { offset, limit } = planned;
  const headers = filterHeaders(query, counts, find(store, query, planned, effort));
  const matches = payloadFilter(query.filter);
  const reader = planned.readsPayloads ? new PayloadReader(store, query.projectId, effort) : null;
  // Without a payload filter the cut comes first, so that no payload is read which is not answered.
  const stays = staysInPlace(query);
  const calls = matches
    ? cut(offset, limit, filterPayloads(matches, hydrate(reader, stays, counts, headers)))
    : hydrate(reader, stays, counts, cut(offset, limit, headers));
  const encode = encoder(wireNames(store.service), query.columns);
  for await (const batch of calls) {
    counts.sent += batch.length;
    yield batch.map(encode);
  }
}

/** Every call that the plan's source holds, in the query's order. */
async function* find(
  store: CallStore,
  query: CallsQuery,
  { source, direction, enough }: Plan,
  effort: Effort,
): AsyncGenerator<CallHeader[]> {
  if (source.kind === 'nothing') return;
  if (source.kind === 'calls') {
    yield (await readHeaders(store, query.projectId, source.ids, effort)).sort(compareCalls(direction));
    return;
  }
  const ranges = await locate(store, query.projectId, source, effort);
  const options = {
    descending: direction === 'descending',
    firstPage: firstPageRows(enough, ranges.length),
    ahead: query.limit === null && ranges.length <= mostAhead,
  };
  const rows = scan(store, query.projectId, ranges, options, effort);
  yield* orderTies(direction, joinParts(store, query.projectId, rows, effort));
}

/** With more ranges than this, none is read ahead: each has up to 1 MB under way. */
const mostAhead = 16;

/**
 * How many rows to ask each range for at first: where it is known how many calls are enough, each range's even share of twice
 * as many rows (a call may have two) and some to spare; else enough to have something to send at once.
 */
const firstPageRows = (enough: number | null, ranges: number): number =>
  enough === null ? 128 : Math.ceil((2.2 * enough) / ranges) + 8;

async function* filterHeaders(
  query: CallsQuery,
  counts: QueryCounts,
  batches: AsyncIterable<CallHeader[]>,
): AsyncGenerator<CallHeader[]> {
  const matches = headerFilter(query.filter);
  for await (const batch of batches) {
    counts.scanned += batch.length;
    const kept = batch.filter(matches);
    if (kept.length > 0) yield kept;
  }
}

/** A call on its way to the answer; the payload is null where it is not wanted. */
interface Found {
  readonly header: CallHeader;
  readonly payload: Payload | null;
}

/** Calls are hydrated in batches of so many bytes of payload, or one call. */
const hydrationBytes = 4 * 1024 * 1024;

/**
 * Whether a call that was read again, and may have been reported again meanwhile, still belongs where it was found. One that does not is left
 * out: at its new place, if the filter lets it through at all, it is met where the scan has not passed yet.
 */
const staysInPlace = ({ filter }: CallsQuery): ((before: CallHeader, now: CallHeader) => boolean) => {
  const matches = headerFilter(filter);
  return (before, now) => before === now || (before.start.startedAt === now.start.startedAt && matches(now));
};

async function* hydrate(
  reader: PayloadReader | null,
  stays: (before: CallHeader, now: CallHeader) => boolean,
  counts: QueryCounts,
  batches: AsyncIterable<CallHeader[]>,
): AsyncGenerator<Found[]> {
  for await (const batch of batches) {
    if (reader === null) {
      yield batch.map((header) => ({ header, payload: null }));
      continue;
    }
    for (const part of bySize(batch)) {
      const before = new Map(part.map((header) => [header.id, header]));
      const found = await reader.read(part);
      counts.hydrated += found.length;
      yield found.filter(({ header }) => stays(before.get(header.id) ?? header, header));
    }
  }
}

const bySize = (calls: readonly CallHeader[]): CallHeader[][] => {
  const batches: CallHeader[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const header of calls) {
    const length = header.start.payload.length + (header.end?.payload.length ?? 0);
    if (bytes + length > hydrationBytes) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(header);
    bytes += length;
  }
  return batches;
};

async function* filterPayloads(
  matches: (payload: Payload) => boolean,
  batches: AsyncIterable<Found[]>,
): AsyncGenerator<Found[]> {
  for await (const batch of batches) {
    const kept = batch.filter(({ payload }) => payload !== null && matches(payload));
    if (kept.length > 0) yield kept;
  }
}

/** Makes what turns a call into JSON text: whole, or the asked-for columns of it. */
const encoder = (names: WireNames, columns: readonly string[] | null): ((call: Found) => string) => {
  if (columns === null) {
    return ({ header, payload }) => {
      if (payload === null) throw new Error('a whole call without its payload');
      return callJson(names, { header, payload });
    };
  }
  const projection = projectionOf(names, columns);
  return ({ header, payload }) => projectedJson(names, header, payload, projection);
};
