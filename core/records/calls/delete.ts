import { pack, unpack } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  chunked,
  compareAndSwap,
  deleteItem,
  deleteItems,
  deleteReadObject,
  getItems,
  type Item,
  mapConcurrent,
  type RequestBudget,
  readObject,
  readRange,
  replaceItem,
  replaceObject,
  type Store,
} from '../../../foundations/storage/index.ts';
import { type ProjectId, unavailable } from '../../../foundations/wire/index.ts';
import { type Changing, HourMarks } from '../rollups.ts';
import { findFactKeys } from './facts.ts';
import {
  endKey,
  fromItem,
  meetingKey,
  previewsItemKey,
  readStartEntries,
  segmentItemKey,
  startKey,
  traceRange,
  unchanged,
} from './items.ts';
import { readRecordKeys } from './log-records.ts';
import type { PayloadPointer } from './model.ts';
import { readNoteKeys } from './notes.ts';
import {
  blank,
  cutBlock,
  getPointers,
  hasFormer,
  hasPreviews,
  isBlank,
  readFormer,
  segmentLocation,
  segmentObject,
} from './payloads.ts';
import { packLines, unpackLines } from './preview.ts';

/**
 * The number of calls deleted together. Their segments are rewritten once, and their items are held
 * in memory meanwhile.
 */
const runLength = 1000;
/** The number of calls whose items are deleted concurrently. */
const concurrency = 16;
/** The most attempts for one run. Two are enough unless its calls are reported meanwhile. */
const maxAttempts = 10;

/** Deletes what is stored elsewhere of some calls. It must be repeatable. */
export type DeleteOthers = (ids: readonly string[]) => Promise<void>;

/**
 * Deletes calls with all their descendants: their headers, and all payloads that their headers
 * point to or ever pointed to. When it returns, everything is gone. When it throws, some may be
 * gone, and the same request completes the deletion. Unknown ids are ignored.
 *
 * @param deleteOthers is done with calls before they are deleted. @default - nothing
 * @returns the number of deleted calls, with descendants
 * @throws ServiceError 503 when storage does not accept it in time, or while the calls are reported
 * as fast as they are deleted
 */
export const deleteCalls = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
  deleteOthers: DeleteOthers = async () => {},
): Promise<number> => {
  let deleted = 0;
  const marks = new HourMarks(store, budget);
  for await (const calls of findDescendants(store, projectId, [...new Set(ids)], budget)) {
    for (const run of chunked(deepestFirst(calls), runLength)) {
      await deleteOthers(run.map(({ id }) => id));
      deleted += await deleteRun(store, projectId, run, marks, budget, readFactKeys);
    }
  }
  return deleted;
};

/**
 * Deletes calls alone, without their descendants: others have taken their place. Unknown ids are
 * ignored.
 *
 * @throws ServiceError as {@link deleteCalls}
 */
export const removeCalls = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<void> => {
  const marks = new HourMarks(store, budget);
  const run = deepestFirst(new Map(ids.map((id) => [id, 0])));
  await deleteRun(store, projectId, run, marks, budget, async () => []);
};

interface CallToDelete {
  readonly id: string;
  readonly depth: number;
  /** The locations of its payloads, former ones too, from all attempts. */
  readonly payloads: PayloadPointer[];
  /** Its items as they were last read, the end's first. */
  items: readonly Item[];
  /** The keys of the notes on its former payloads, of log records that joined it, and of its trace's meeting. */
  notes: readonly Item[];
  /** Whether a start was found. An end by itself is not yet a call. */
  wasCall: boolean;
}

/**
 * Children go before their parent. As long as it exists, a repeated request finds them through it.
 */
const deepestFirst = (calls: Depths): CallToDelete[] =>
  [...calls]
    .map(([id, depth]) => ({ id, depth, payloads: [], items: [], notes: [], wasCall: false }))
    .sort((a, b) => b.depth - a.depth);

/**
 * Deletes calls, deepest first. Payloads are blanked before the headers that point to them go. A
 * report of the same content may bring payloads back. So the run is complete when an attempt finds
 * neither header nor payload.
 *
 * @param factKeys finds what coding agents said in the calls' places, to be deleted with them
 * @returns the number of calls with a start
 */
const deleteRun = async (
  store: Store,
  projectId: ProjectId,
  run: readonly CallToDelete[],
  marks: HourMarks,
  budget: RequestBudget,
  factKeys: typeof readFactKeys,
): Promise<number> => {
  let remaining = run;
  for (let attempts = 0; remaining.length > 0; attempts++) {
    if (attempts === maxAttempts)
      throw unavailable(
        'reports in the way',
        'calls are being reported as fast as they are deleted; send the same request again',
      );
    await readItems(store, projectId, remaining, budget);
    await marks.mark(projectId, findStarts(projectId, remaining), true);
    await readNotes(store, projectId, remaining, budget);
    const payloads = remaining.flatMap((call) => call.payloads);
    const blanked = await blankPayloads(store, projectId, payloads, budget);
    const facts = await factKeys(store, projectId, remaining, budget);
    // A repeated request finds notes and facts through the calls' items.
    await deleteItems(store.table, [...remaining.flatMap((call) => call.notes), ...facts], budget);
    await deleteCallItems(store, remaining, budget);
    remaining = remaining.filter(
      (call) =>
        call.items.length > 0 ||
        call.payloads.some(({ segment }) => segment !== null && blanked.has(segment)),
    );
  }
  return run.filter(({ wasCall }) => wasCall).length;
};

/** Reads the current items of calls, strongly consistent. */
const readItems = async (
  store: Store,
  projectId: ProjectId,
  calls: readonly CallToDelete[],
  budget: RequestBudget,
): Promise<void> => {
  const keys = calls.flatMap(({ id }) => [endKey(projectId, id), startKey(projectId, id)]);
  const items = await getItems(store.table, keys, budget, { consistent: true });
  const found = Map.groupBy(
    items.map((item) => ({ item, part: fromItem(projectId, item) })),
    ({ part }) => part.id,
  );
  for (const call of calls) {
    const parts = found.get(call.id) ?? [];
    // E sorts before S.
    call.items = parts.toSorted((a, b) => (a.part.part < b.part.part ? -1 : 1)).map(({ item }) => item);
    call.payloads.push(...parts.flatMap(({ part }) => getPointers(part)));
    call.wasCall ||= parts.some(({ part }) => part.start !== null);
  }
};

/** Every call of a coding agent names its agent; others have nothing in a place. */
const readFactKeys = (
  store: Store,
  projectId: ProjectId,
  calls: readonly CallToDelete[],
  budget: RequestBudget,
): Promise<Item[]> => {
  const starts = calls.flatMap(({ items }) => items.flatMap((item) => fromItem(projectId, item).start ?? []));
  return findFactKeys(
    store,
    projectId,
    starts.filter(({ attributes }) => attributes['agent.name'] !== undefined),
    budget,
  );
};

const findStarts = (projectId: ProjectId, calls: readonly CallToDelete[]): Changing[] =>
  calls.flatMap(({ items }) =>
    items.flatMap((item) => {
      const { start } = fromItem(projectId, item);
      return start ? [{ startedAt: start.startedAt }] : [];
    }),
  );

/** The trace of a call that was made of a span. */
const traceOfSpan = (projectId: ProjectId, call: CallToDelete): [string, CallToDelete][] =>
  call.items.flatMap((item): [string, CallToDelete][] => {
    const { start } = fromItem(projectId, item);
    return start?.span ? [[start.traceId, call]] : [];
  });

/**
 * Reads the notes on former payloads of the calls whose items say that there are some, log records, and
 * what requests have left of the traces.
 */
const readNotes = async (
  store: Store,
  projectId: ProjectId,
  calls: readonly CallToDelete[],
  budget: RequestBudget,
): Promise<void> => {
  await mapConcurrent(calls, concurrency, async (call) => {
    const found = call.items.some(hasFormer) ? await readFormer(store, projectId, call.id, budget) : [];
    call.notes = [
      ...found.map(({ key }) => key),
      ...(await readRecordKeys(store, projectId, call.id, budget)),
    ];
    call.payloads.push(...found.map(({ pointer }) => pointer));
  });
  const ofTrace = new Map(calls.flatMap((call) => traceOfSpan(projectId, call)));
  await mapConcurrent([...ofTrace], concurrency, async ([traceId, call]) => {
    call.notes = [...call.notes, ...(await readNoteKeys(store, meetingKey(projectId, traceId), budget))];
  });
};

/**
 * Deletes the items of calls as they were last read, level by level. If one has changed, the levels
 * above wait for the next attempt.
 */
const deleteCallItems = async (
  store: Store,
  calls: readonly CallToDelete[],
  budget: RequestBudget,
): Promise<void> => {
  for (const level of Map.groupBy(calls, ({ depth }) => depth).values()) {
    const gone = await mapConcurrent(level, concurrency, (call) => removeItems(store, call, budget));
    if (gone.includes(false)) return;
  }
};

/**
 * Deletes the items of one call. The start goes last, because a repeated request finds the call by
 * it.
 *
 * @returns false if an item has changed
 */
const removeItems = async (
  { table }: Store,
  { items }: CallToDelete,
  budget: RequestBudget,
): Promise<boolean> => {
  for (const item of items) {
    const { k, p } = item;
    if (k && p && !(await deleteItem(table, { k, p }, unchanged(item), budget))) return false;
  }
  return true;
};

/** The ids of a call and its parent. */
export type Link = readonly [id: string, parentId: string];

/** Calls by id, with their depth below the nearest requested call. Requested calls have depth 0. */
type Depths = Map<string, number>;

/** The number of traces read concurrently. */
const traceConcurrency = 4;
/** The number of calls from which a group is yielded. A trace is never split. */
const minGroupSize = 1000;

/** Calls with all their descendants. Links may be in any order and form cycles. */
export const withDescendants = (ids: readonly string[], links: readonly Link[]): Depths => {
  const children = Map.groupBy(links, ([, parentId]) => parentId);
  const depths: Depths = new Map(ids.map((id) => [id, 0]));
  // The loop also visits the calls that it adds, nearest first.
  for (const [parentId, depth] of depths) {
    for (const [id] of children.get(parentId) ?? []) if (!depths.has(id)) depths.set(id, depth + 1);
  }
  return depths;
};

/** What is known of the calls in some traces. */
interface Family {
  readonly links: Link[];
  /** The early traces of calls that have some. */
  readonly earlyTraces: Map<string, readonly string[]>;
}

/** Adds the calls of a trace to a family, as far as the trace's index is up to date. */
const readTrace = async (
  store: Store,
  projectId: ProjectId,
  traceId: string,
  { links, earlyTraces }: Family,
  budget: RequestBudget,
): Promise<void> => {
  const range = traceRange(projectId, traceId, {});
  const options = { toRow: (item: Item) => fromItem(projectId, item) };
  for await (const parts of readRange(store.table, range, options, budget))
    for (const { id, start, earlyTraces: traces } of parts) {
      if (start && start.parentId !== null) links.push([id, start.parentId]);
      if (traces) earlyTraces.set(id, traces);
    }
};

/** A call with its trace and its early traces. A call without a start has early ones alone. */
interface Root {
  readonly id: string;
  readonly traces: readonly string[];
}

/**
 * Finds calls with all their descendants in the calls' traces, and in the early traces of each
 * descendant. Each trace is read once.
 */
const readFamily = async (
  store: Store,
  projectId: ProjectId,
  roots: readonly Root[],
  budget: RequestBudget,
): Promise<Depths> => {
  const ids = roots.map(({ id }) => id);
  const family: Family = { links: [], earlyTraces: new Map() };
  const seen = new Set<string>();
  let found = withDescendants(ids, []);
  let unread = [...new Set(roots.flatMap(({ traces }) => traces))];
  while (unread.length > 0) {
    for (const trace of unread) seen.add(trace);
    await mapConcurrent(unread, traceConcurrency, (trace) =>
      readTrace(store, projectId, trace, family, budget),
    );
    found = withDescendants(ids, family.links);
    const early = [...found.keys()].flatMap((id) => family.earlyTraces.get(id) ?? []);
    unread = [...new Set(early)].filter((trace) => !seen.has(trace));
  }
  return found;
};

/**
 * Finds calls with all their descendants. Their traces are read from an index, which normally lags
 * some milliseconds. These are the traces of the calls, and the early ones of the calls and their
 * descendants. Ids of which nothing is stored are yielded as they are.
 *
 * @param ids without duplicates
 * @returns groups of about a thousand calls, more if a trace has more
 * @throws ServiceError 503, during iteration, when storage does not answer in time
 */
async function* findDescendants(
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): AsyncGenerator<Depths> {
  const calls = ids.map((id) => ({ projectId, id }));
  const entries = await readStartEntries(store, calls, budget);
  const roots = entries.map(
    ({ id, start, earlyTraces = [] }): Root => ({
      id,
      traces: [...(start ? [start.traceId] : []), ...earlyTraces],
    }),
  );
  const traces = Map.groupBy(roots, ({ traces: [first] }) => first);
  const known = new Set(entries.map(({ id }) => id));
  let found: Depths = new Map(ids.filter((id) => !known.has(id)).map((id) => [id, 0]));
  for (const batch of chunked([...traces.values()], traceConcurrency)) {
    const families = await mapConcurrent(batch, traceConcurrency, (ofTrace) =>
      readFamily(store, projectId, ofTrace, budget),
    );
    // A call that was just moved may still appear in its former trace.
    for (const [id, depth] of families.flatMap((family) => [...family])) {
      found.set(id, Math.min(depth, found.get(id) ?? depth));
    }
    if (found.size < minGroupSize) continue;
    yield found;
    found = new Map();
  }
  if (found.size > 0) yield found;
}

/*
 * Calls of one request share a segment. Deleting a call overwrites its blocks there with zero bytes
 * in place, so that the pointers to other blocks stay valid. Zeros compress to almost nothing. A
 * segment with no other blocks is deleted.
 */

/** The number of segments rewritten concurrently. Each is unpacked in memory. */
const blankConcurrency = 8;

/**
 * Overwrites blocks of an unpacked segment.
 *
 * @returns `untouched` if they were blank before; `empty` if the segment has no other content;
 * otherwise `blanked`
 * @throws Error if the segment is too short for a block
 */
export const blankBlocks = (
  unpacked: Uint8Array,
  pointers: readonly PayloadPointer[],
): 'untouched' | 'blanked' | 'empty' => {
  const blocks = pointers.map((pointer) => cutBlock(unpacked, pointer)).filter((block) => !isBlank(block));
  if (blocks.length === 0) return 'untouched';
  for (const block of blocks) block.fill(blank);
  return unpacked.every((byte) => byte === blank) ? 'empty' : 'blanked';
};

/** A segment as it was read. Its operations return false if it has changed since. */
interface StoredSegment {
  readonly packed: Uint8Array;
  replace(packed: Uint8Array): Promise<boolean>;
  remove(): Promise<boolean>;
}

const readSegmentItem = async (
  { table }: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<StoredSegment | undefined> => {
  const key = segmentItemKey(projectId, id);
  const [item] = await getItems(table, [key], budget, { consistent: true });
  const packed = asBytes(item?.b);
  if (!item || !packed) return undefined;
  // The expiry is part of the condition: a report of the same content extends it, and its headers
  // rely on that.
  const { b, x } = item;
  return {
    packed,
    replace: (changed) => replaceItem(table, { ...item, b: changed }, { b, x }, budget),
    remove: () => deleteItem(table, key, { b, x }, budget),
  };
};

const readSegmentObject = async (
  { bucket }: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<StoredSegment | undefined> => {
  const key = segmentObject(projectId, id);
  const object = await readObject(bucket, key, budget);
  return (
    object && {
      packed: object.body,
      replace: (packed) => replaceObject(bucket, key, packed, object.etag, budget),
      remove: () => deleteReadObject(bucket, key, object.etag, budget),
    }
  );
};

/**
 * Blanks blocks of one segment.
 *
 * @returns whether any of them was not blank before
 */
const blankSegment = (
  store: Store,
  projectId: ProjectId,
  id: string,
  pointers: readonly PayloadPointer[],
  budget: RequestBudget,
): Promise<boolean> => {
  const read = segmentLocation(id) === 'table' ? readSegmentItem : readSegmentObject;
  return compareAndSwap(budget, async (round) => {
    // An earlier write may have succeeded although its answer was lost.
    const nothingLeft = { value: round > 0 };
    const stored = await read(store, projectId, id, budget);
    if (!stored) return nothingLeft;
    const bytes = unpack(stored.packed);
    const state = blankBlocks(bytes, pointers);
    if (state === 'untouched') return nothingLeft;
    const held = state === 'empty' ? await stored.remove() : await stored.replace(await pack(bytes));
    return held ? { value: true } : undefined;
  });
};

/**
 * Takes the previews of blocks out of the item beside their segment, before the blocks go.
 *
 * @returns whether any of them was there
 */
const blankPreviews = (
  { table }: Store,
  projectId: ProjectId,
  id: string,
  pointers: readonly PayloadPointer[],
  budget: RequestBudget,
): Promise<boolean> => {
  const key = previewsItemKey(projectId, id);
  const offsets = new Set(pointers.map(({ offset }) => offset));
  return compareAndSwap(budget, async (round) => {
    // An earlier write may have succeeded although its answer was lost.
    const nothingLeft = { value: round > 0 };
    const [item] = await getItems(table, [key], budget, { consistent: true });
    const packed = asBytes(item?.b);
    if (!item || !packed) return nothingLeft;
    const lines = unpackLines(packed);
    const kept = lines.filter(([offset]) => !offsets.has(offset));
    if (kept.length === lines.length) return nothingLeft;
    const { b, x } = item;
    const held =
      kept.length === 0
        ? await deleteItem(table, key, { b, x }, budget)
        : await replaceItem(table, { ...item, b: await packLines(kept) }, { b, x }, budget);
    return held ? { value: true } : undefined;
  });
};

/**
 * Blanks payload blocks in the segments of one project, with their previews, each segment in one write. If others write
 * to a segment meanwhile, it is read again, so their changes are retained.
 *
 * @returns the names of the segments in which some block was not blank before
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const blankPayloads = async (
  store: Store,
  projectId: ProjectId,
  pointers: readonly PayloadPointer[],
  budget: RequestBudget,
): Promise<ReadonlySet<string>> => {
  const bySegment = Map.groupBy(pointers, ({ segment }) => segment);
  const changed = await mapConcurrent([...bySegment], blankConcurrency, async ([id, segmentPointers]) => {
    if (id === null) return [];
    const hadPreviews =
      hasPreviews(id) && (await blankPreviews(store, projectId, id, segmentPointers, budget));
    const hadBlocks = await blankSegment(store, projectId, id, segmentPointers, budget);
    return hadPreviews || hadBlocks ? [id] : [];
  });
  return new Set(changed.flat());
};
