import {
  chunked,
  deleteItem,
  deleteItems,
  getItems,
  type Item,
  mapConcurrent,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import { type ProjectId, unavailable } from '../../../foundations/wire/index.ts';
import { type Changing, HourMarks } from '../../rollups.ts';
import { fromItem } from '../codec/items.ts';
import { endKey, startKey } from '../codec/keys.ts';
import type { PayloadPointer } from '../model.ts';
import { blankPayloads } from '../payloads/blank.ts';
import { hasFormer, pointersOf, readFormer } from '../payloads/former.ts';
import { unchanged } from '../write/stored-starts.ts';
import { type Depths, findDescendants } from './descendants.ts';

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
      deleted += await deleteRun(store, projectId, run, marks, budget);
    }
  }
  return deleted;
};

interface CallToDelete {
  readonly id: string;
  readonly depth: number;
  /** The locations of its payloads, former ones too, from all attempts. */
  readonly payloads: PayloadPointer[];
  /** Its items as they were last read, the end's first. */
  items: readonly Item[];
  /** The keys of the notes on its former payloads. */
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
 * @returns the number of calls with a start
 */
const deleteRun = async (
  store: Store,
  projectId: ProjectId,
  run: readonly CallToDelete[],
  marks: HourMarks,
  budget: RequestBudget,
): Promise<number> => {
  let remaining = run;
  for (let attempts = 0; remaining.length > 0; attempts++) {
    if (attempts === maxAttempts)
      throw unavailable(
        'reports in the way',
        'calls are being reported as fast as they are deleted; send the same request again',
      );
    await readItems(store, projectId, remaining, budget);
    await marks.mark(projectId, startsOf(store, projectId, remaining));
    await readNotes(store, projectId, remaining, budget);
    const payloads = remaining.flatMap((call) => call.payloads);
    const blanked = await blankPayloads(store, projectId, payloads, budget);
    // A repeated request finds notes through the calls' items.
    await deleteItems(
      store.table,
      remaining.flatMap((call) => call.notes),
      budget,
    );
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
    items.map((item) => ({ item, part: fromItem(store, projectId, item) })),
    ({ part }) => part.id,
  );
  for (const call of calls) {
    const parts = found.get(call.id) ?? [];
    // E sorts before S.
    call.items = parts.toSorted((a, b) => (a.part.part < b.part.part ? -1 : 1)).map(({ item }) => item);
    call.payloads.push(...parts.flatMap(({ part }) => pointersOf(part)));
    call.wasCall ||= parts.some(({ part }) => part.start !== null);
  }
};

const startsOf = (store: Store, projectId: ProjectId, calls: readonly CallToDelete[]): Changing[] =>
  calls.flatMap(({ items }) =>
    items.flatMap((item) => {
      const { start } = fromItem(store, projectId, item);
      return start ? [{ startedAt: start.startedAt }] : [];
    }),
  );

/** Reads the notes on former payloads of the calls whose items say that there are some. */
const readNotes = async (
  store: Store,
  projectId: ProjectId,
  calls: readonly CallToDelete[],
  budget: RequestBudget,
): Promise<void> => {
  await mapConcurrent(calls, concurrency, async (call) => {
    const found = call.items.some(hasFormer) ? await readFormer(store, projectId, call.id, budget) : [];
    call.notes = found.map(({ key }) => key);
    call.payloads.push(...found.map(({ pointer }) => pointer));
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
    const gone = await mapConcurrent(level, concurrency, (call) => deleteItemsOf(store, call, budget));
    if (gone.includes(false)) return;
  }
};

/**
 * Deletes the items of one call. The start goes last, because a repeated request finds the call by
 * it.
 *
 * @returns false if an item has changed
 */
const deleteItemsOf = async (
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
