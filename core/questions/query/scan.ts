import { evenShare, type Paging, readsAhead, scan } from '../../../foundations/listing/index.ts';
import {
  bytesFromWire,
  everyShard,
  type Item,
  itemFromWire,
  mapConcurrent,
  possibleShards,
  type RequestBudget,
  readRange,
  type Store,
  type WireItem,
} from '../../../foundations/storage/index.ts';
import type { AnyIndexRange, IndexName, RowAttribute } from '../../../foundations/storage/tables.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import {
  type CallHeader,
  errorRange,
  foldCall,
  fromItem,
  getSortKey,
  type Level,
  maxTurnTraces,
  readHeaders,
  readParts,
  type StoredPart,
  type TimeBounds,
  threadRange,
  timeRange,
  traceRange,
} from '../../records/calls/index.ts';
import { compareCalls, orderTies } from './order.ts';
import { bothLevels, type Plan, type Source } from './plan.ts';

/**
 * Reads every call that a plan's source holds, in the source's order, or in any if they are to be sorted.
 *
 * @param early whether calls are answered as soon as they are found
 * @param unordered whether any order will do. All calls must be wanted
 * @throws ServiceError 503 when storage does not give something in time
 */
export async function* readSource(
  store: Store,
  projectId: ProjectId,
  plan: Plan,
  early: boolean,
  budget: RequestBudget,
  unordered = false,
): AsyncGenerator<readonly CallHeader[]> {
  const { source, descending, bounds, order } = plan;
  if (source.kind === 'nothing') return;
  if (source.kind === 'calls') {
    yield (await readHeaders(store, projectId, source.ids, budget)).sort(compareCalls(plan));
    return;
  }
  const ranges = await locate(store, projectId, source, bounds, budget);
  const options = {
    descending,
    ...firstPages(plan, early, ranges.length),
    ahead: readsAhead(plan, ranges.length),
    payloads: plan.required.length + plan.answered.length > 0,
  };
  const scanned = (some: readonly AnyIndexRange<'calls'>[]) =>
    joinParts(store, projectId, scanParts(store, projectId, some, options, budget), budget);
  // What is going to be sorted or counted needs no order before.
  if (order === 'free' && !unordered) yield* orderTies(plan, scanned(ranges));
  else if (isApart(plan, ranges.length)) yield* asTheyCome(ranges.map((range) => scanned([range])));
  else yield* scanned(ranges);
}

/** How many ranges are read without an order at once. */
const rangesAsTheyCome = 16;

/**
 * Whether each call lies in one range alone, and they are few enough to be read at once. What is fetched beside
 * headers takes fewer reads in the batches of merged ranges.
 */
const isApart = ({ source: { kind }, required, totals }: Plan, ranges: number): boolean =>
  (kind === 'project' || kind === 'errors') &&
  required.length === 0 &&
  totals === null &&
  ranges <= rangesAsTheyCome;

/**
 * Gives what several generators give, as it comes: what one has read is used while the store reads for the
 * others. Ending the iteration ends them.
 *
 * @throws what the first of them throws that fails
 */
async function* asTheyCome<T>(sources: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const next = async (source: AsyncGenerator<T>) => ({ source, result: await source.next() });
  const pending = new Map(sources.map((source) => [source, next(source)]));
  // Only the first failure is thrown.
  for (const each of pending.values()) each.catch(() => {});
  try {
    while (pending.size > 0) {
      const { source, result } = await Promise.race(pending.values());
      if (result.done) {
        pending.delete(source);
        continue;
      }
      const following = next(source);
      following.catch(() => {});
      pending.set(source, following);
      yield result.value;
    }
  } finally {
    await Promise.allSettled([...pending.keys()].map((source) => source.return(undefined)));
  }
}

/**
 * Rows to ask for in all when it is not known how many calls are enough: something to send at once.
 * So few cost no more than one of a range.
 */
const unknownRows = 32;
const fewRows = 8;
/**
 * Rows to ask each range for at first when all of them will be answered as they are found. It often
 * has no more, and a request takes as much processor time as a hundred rows.
 */
const rowsAtFirst = 64;
/** How fast they grow when it is known how many calls are enough: most of them came on the first. */
const growthToEnough = 1.5;
/**
 * Rows to ask roots for at first where nested calls are read too. Mostly they are few. So many cost
 * no more than one.
 */
const fewRoots = 12;

/** The first pages of ranges. Most calls have one row; second pages bring what is missing. */
const firstPages = (
  { source, enough, limit, order }: Plan,
  early: boolean,
  ranges: number,
): Pick<Paging, 'firstPage' | 'growth'> => {
  if (order === 'sort' || (limit === null && !early)) return { firstPage: null };
  if (limit === null) return { firstPage: rowsAtFirst, growth: Number.POSITIVE_INFINITY };
  if (enough === null) return { firstPage: Math.max(fewRows, Math.ceil(unknownRows / ranges)) };
  const isWhole = source.kind === 'project' && source.levels.length > 1;
  if (!isWhole) return { firstPage: evenShare(enough, ranges), growth: growthToEnough };
  const shards = ranges / source.levels.length;
  const nested = evenShare(enough, shards);
  return {
    firstPage: source.levels.flatMap((level) =>
      Array.from({ length: shards }, () => (level === 'roots' ? Math.min(fewRoots, nested) : nested)),
    ),
    growth: growthToEnough,
  };
};

/** The key ranges of a project's calls: one a level for each shard that has ever been in force. */
export const projectRanges = (
  store: Store,
  projectId: ProjectId,
  levels: readonly Level[],
  bounds: TimeBounds,
): AnyIndexRange<'calls'>[] =>
  levels.flatMap((level) => everyShard(store).map((shard) => timeRange(projectId, level, shard, bounds)));

const traceRanges = (
  projectId: ProjectId,
  traceIds: Iterable<string>,
  bounds: TimeBounds,
): AnyIndexRange<'calls'>[] =>
  [...new Set(traceIds)].map((traceId) => traceRange(projectId, traceId, bounds));

const threadRanges = (
  store: Store,
  projectId: ProjectId,
  threadIds: Iterable<string>,
  bounds: TimeBounds,
): AnyIndexRange<'calls'>[] =>
  [...new Set(threadIds)].flatMap((threadId) =>
    possibleShards(store, threadId).flatMap((shard) =>
      [true, false].map((turns) => threadRange(projectId, threadId, turns, shard, bounds)),
    ),
  );

const hasManyTraces = ({ earlyTraces = [] }: CallHeader): boolean => earlyTraces.length >= maxTurnTraces;

/**
 * Turns the source of a plan into the key ranges to scan. Parents and turns are looked up for their
 * traces and threads. While one of them is not known, what belongs to it can be anywhere in the
 * project; children of a parent are nested.
 *
 * @param bounds the span of `started_at` that is wanted
 * @throws ServiceError 503 when storage does not give them in time
 */
const locate = async (
  store: Store,
  projectId: ProjectId,
  source: Exclude<Source, { kind: 'nothing' | 'calls' }>,
  bounds: TimeBounds,
  budget: RequestBudget,
): Promise<AnyIndexRange<'calls'>[]> => {
  switch (source.kind) {
    case 'project':
      return projectRanges(store, projectId, source.levels, bounds);
    case 'errors':
      return everyShard(store).map((shard) => errorRange(projectId, shard, bounds));
    case 'traces':
      return traceRanges(projectId, source.ids, bounds);
    case 'threads':
      return threadRanges(store, projectId, source.ids, bounds);
  }
  const known: CallHeader[] = await readHeaders(store, projectId, source.ids, budget);
  if (known.length < source.ids.length)
    return projectRanges(store, projectId, source.kind === 'parents' ? ['nested'] : bothLevels, bounds);
  if (source.kind === 'turns' && known.some(hasManyTraces))
    return projectRanges(store, projectId, bothLevels, bounds);
  const traces = traceRanges(
    projectId,
    known.flatMap(({ start, earlyTraces = [] }) => [start.traceId, ...earlyTraces]),
    bounds,
  );
  if (source.kind === 'parents') return traces;
  // A nested call may name its turn and not its thread. Rows that both ranges hold are joined into
  // one call.
  const threads = known.flatMap(({ start }) => start.threadId ?? []);
  return [...threadRanges(store, projectId, threads, bounds), ...traces];
};

/** How many ranges are counted at once. */
const rangesAtOnce = 16;

/**
 * Counts the calls of a project within bounds of time, by their starts. No more is read of each than
 * that.
 *
 * @throws ServiceError 503 when storage does not give a page in time
 */
export const countStarts = async (
  store: Store,
  projectId: ProjectId,
  levels: readonly Level[],
  bounds: TimeBounds,
  budget: RequestBudget,
): Promise<number> => {
  const ranges = projectRanges(store, projectId, levels, bounds);
  const counts = await mapConcurrent(ranges, rangesAtOnce, async (range) => {
    let count = 0;
    const options = { toRow: ({ p }: Item) => p === 'S', attributes: ['p'] };
    for await (const rows of readRange(store.table, range, options, budget))
      count += rows.filter((isStart) => isStart).length;
    return count;
  });
  return counts.reduce((sum, count) => sum + count, 0);
};

/**
 * One row of an index: a start or an end. It is decoded when it is asked for. Pages wait to be merged, and what is
 * on the wire is a fraction of what is made of it.
 */
class PartRow {
  readonly #projectId: ProjectId;
  readonly #item: WireItem;
  readonly #byThread: boolean;
  #key: Uint8Array | undefined;

  constructor(projectId: ProjectId, item: WireItem, byThread: boolean) {
    this.#projectId = projectId;
    this.#item = item;
    this.#byThread = byThread;
  }

  /** What rows are merged by: the time-ordered end of the sort key, or all of it. */
  get key(): Uint8Array {
    this.#key ??= this.#readKey();
    return this.#key;
  }

  get part(): StoredPart {
    return fromItem(this.#projectId, itemFromWire(this.#item));
  }

  /** The beginning of the sort key, as it is on the wire: what most rows differ in. Undefined behind a thread's id. */
  get beginning(): string | undefined {
    const time = this.#item.ts?.B;
    return typeof time === 'string' ? time.slice(0, beginningLength) : undefined;
  }

  #readKey(): Uint8Array {
    const ts = bytesFromWire(this.#item, 'ts');
    const hs = bytesFromWire(this.#item, 'hs');
    return (this.#byThread ? hs : undefined) ?? getSortKey({ ts, hs });
  }
}

/** How key ranges of an index of calls are scanned. */
interface PartScan extends Paging {
  readonly descending: boolean;
  /** Whether rows of `by_thread` are merged thread by thread, and by time only within a thread. */
  readonly byThread?: boolean;
  /** Whether payloads will be wanted. @default false */
  readonly payloads?: boolean;
}

/**
 * What is read of rows. The partition key that was asked for would be a fifth of the answers, and the
 * sort key says which part a row is of.
 */
const attributes: { readonly [I in IndexName<'calls'>]: readonly RowAttribute<'calls', I>[] } = {
  by_time: ['k', 'ts', 'h'],
  by_trace: ['k', 'ts', 'h'],
  by_thread: ['k', 'hs', 'h'],
  by_error: ['k', 'ts', 'h'],
};

/** What is read of rows by those who will want small payloads, which some indexes have. */
const withInline: typeof attributes = {
  ...attributes,
  by_time: [...attributes.by_time, 'c'],
  by_error: [...attributes.by_error, 'c'],
};

const compareKeys = (a: PartRow, b: PartRow): number => Buffer.compare(a.key, b.key);

/**
 * Scans key ranges of an index side by side and merges their starts and ends.
 *
 * @throws ServiceError 503 when storage does not give a page in time
 */
export const scanParts = (
  store: Store,
  projectId: ProjectId,
  ranges: readonly AnyIndexRange<'calls'>[],
  { byThread = false, payloads = false, ...paging }: PartScan,
  budget: RequestBudget,
): AsyncGenerator<readonly PartRow[]> => {
  const toRow = (item: WireItem): PartRow => new PartRow(projectId, item, byThread);
  const wanted = payloads ? withInline : attributes;
  const getAttributes = ({ index }: AnyIndexRange<'calls'>) => wanted[index];
  return scan(store.table, ranges, { ...paging, toRow, getAttributes, compare: compareKeys }, budget);
};

/** Characters on the wire, of which four are three bytes: a time has seven. */
const beginningLength = 8;

/** Whether two rows are of one call: the same key but for its last byte, `S` or `E`. Most rows differ in their times. */
const isSameCall = (a: PartRow, b: PartRow): boolean => {
  const { beginning } = a;
  const others = b.beginning;
  if (beginning !== undefined && others !== undefined && beginning !== others) return false;
  const key = a.key;
  const other = b.key;
  const last = key.length - 1;
  if (other.length - 1 !== last) return false;
  for (let i = 0; i < last; i++) if (key[i] !== other[i]) return false;
  return true;
};

/**
 * Joins rows into calls; a call's start and end are neighbours. An end without its start is
 * skipped: the call has moved. The table itself is asked for the end of a start without one, by
 * `BatchGetItem`, so whoever reads an index of calls may do that too (`api/access.ts`). Either the call is
 * running, or its end came first and has no place in the index.
 *
 * @throws ServiceError 503 when storage does not give an end in time
 */
export async function* joinParts(
  store: Store,
  projectId: ProjectId,
  batches: AsyncIterable<readonly PartRow[]>,
  budget: RequestBudget,
): AsyncGenerator<CallHeader[]> {
  let last: PartRow | undefined;
  let group: StoredPart[] = [];
  for await (const batch of batches) {
    const groups: StoredPart[][] = [];
    for (const row of batch) {
      if (last && isSameCall(last, row)) group.push(row.part);
      else {
        if (last) groups.push(group);
        group = [row.part];
      }
      last = row;
    }
    if (groups.length > 0) yield await toHeaders(store, projectId, groups, budget);
  }
  if (last) yield await toHeaders(store, projectId, [group], budget);
}

const ended = (parts: readonly StoredPart[]): boolean => parts.some((part) => part.end !== null);

const toHeaders = async (
  store: Store,
  projectId: ProjectId,
  groups: readonly StoredPart[][],
  budget: RequestBudget,
): Promise<CallHeader[]> => {
  // A call that is moved while the ranges are read can be met in two places.
  const open = [...new Set(groups.filter((parts) => !ended(parts)).flatMap((parts) => parts[0]?.id ?? []))];
  const ends =
    open.length > 0 ? await readParts(store, projectId, open, ['E'], budget, { consistent: false }) : [];
  const endsById = new Map(ends.map((end) => [end.id, end]));
  const headers: CallHeader[] = [];
  for (const parts of groups) {
    const id = parts[0]?.id ?? '';
    const end = ended(parts) ? undefined : endsById.get(id);
    const header = foldCall({ projectId, id }, end ? [...parts, end] : parts);
    if (header) headers.push(header);
  }
  return headers;
};
