import {
  chunked,
  deleteItem,
  getItems,
  type Item,
  mapConcurrent,
  type RequestBudget,
  type Store,
} from '../../storage/index.ts';
import { type ProjectId, unavailable } from '../../wire/index.ts';
import { fromItem, type StoredPart } from '../codec/items.ts';
import { endKey, startKey } from '../codec/keys.ts';
import type { PayloadPointer } from '../model.ts';
import { blankPayloads } from '../payloads/blank.ts';
import { unchanged } from '../write/replace-starts.ts';
import { type Depths, findDescendants } from './descendants.ts';

/**
 * How many calls are deleted together: their segments are rewritten once, their items held
 * meanwhile.
 */
const runLength = 1000;
/** How many calls' items are deleted at once. */
const concurrency = 16;
/**
 * How often a run is looked at. Twice is enough where nobody reports its calls at the same time.
 */
const maxLooks = 10;

/**
 * Deletes calls with all their descendants: their headers, and their payloads wherever their
 * headers say that those lie. When it returns all of that is gone; when it throws, some of it may
 * be, and the same request finishes it. Ids of nothing are ignored.
 *
 * @returns how many calls were deleted, descendants included
 * @throws ServiceError 503 when storage does not take it in time, or while the calls are reported
 * as fast as they are deleted
 */
export const deleteCalls = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<number> => {
  let deleted = 0;
  for await (const calls of findDescendants(store, projectId, [...new Set(ids)], budget)) {
    for (const run of chunked(deepestFirst(calls), runLength)) {
      deleted += await deleteRun(store, projectId, run, budget);
    }
  }
  return deleted;
};

/** A call that is being deleted. */
interface Doomed {
  readonly id: string;
  readonly depth: number;
  /** Where its payload was seen, at any look. */
  readonly payloads: PayloadPointer[];
  /** Its items as they were last read, the end's first. */
  items: readonly Item[];
  /** Whether it was seen with a start: an end alone is no call yet. */
  wasCall: boolean;
}

/**
 * A parent goes after its children: as long as it is there, a request that was broken off finds
 * them again through it.
 */
const deepestFirst = (calls: Depths): Doomed[] =>
  [...calls]
    .map(([id, depth]) => ({ id, depth, payloads: [], items: [], wasCall: false }))
    .sort((a, b) => b.depth - a.depth);

/**
 * Deletes calls, deepest first. Payloads are blanked before the headers go, since nothing leads to
 * them afterwards; and again where a report of the same content has brought them back meanwhile. So
 * it is over when a look finds neither header nor payload.
 *
 * @returns how many of them had a start
 */
const deleteRun = async (
  store: Store,
  projectId: ProjectId,
  run: readonly Doomed[],
  budget: RequestBudget,
): Promise<number> => {
  let left = run;
  for (let looks = 0; left.length > 0; looks++) {
    if (looks === maxLooks)
      throw unavailable(
        'reports in the way',
        'calls are being reported as fast as they are deleted; send the same request again',
      );
    await look(store, projectId, left, budget);
    const payloads = left.flatMap((call) => call.payloads);
    const blanked = await blankPayloads(store, projectId, payloads, budget);
    await deleteItems(store, left, budget);
    left = left.filter(
      (call) =>
        call.items.length > 0 ||
        call.payloads.some(({ segment }) => segment !== null && blanked.has(segment)),
    );
  }
  return run.filter(({ wasCall }) => wasCall).length;
};

/** Reads the items of calls as they are now, strongly consistent. */
const look = async (
  store: Store,
  projectId: ProjectId,
  calls: readonly Doomed[],
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
    // E comes before S.
    call.items = parts.toSorted((a, b) => (a.part.part < b.part.part ? -1 : 1)).map(({ item }) => item);
    call.payloads.push(...parts.flatMap(({ part }) => pointersOf(part)));
    call.wasCall ||= parts.some(({ part }) => part.start !== null);
  }
};

const pointersOf = ({ start, end }: StoredPart): PayloadPointer[] => [
  ...(start ? [start.payload] : []),
  ...(end ? [end.payload] : []),
];

/**
 * Deletes the items of calls as they were last looked at, depth by depth. Where one has changed
 * since, what lies above is left for the next look as well.
 */
const deleteItems = async (store: Store, calls: readonly Doomed[], budget: RequestBudget): Promise<void> => {
  for (const level of Map.groupBy(calls, ({ depth }) => depth).values()) {
    const gone = await mapConcurrent(level, concurrency, (call) => deleteItemsOf(store, call, budget));
    if (gone.includes(false)) return;
  }
};

/**
 * Deletes the items of one call. The start goes last: by it the call is found again. False where
 * one has changed.
 */
const deleteItemsOf = async (
  { table }: Store,
  { items }: Doomed,
  budget: RequestBudget,
): Promise<boolean> => {
  for (const item of items) {
    const { k, p } = item;
    if (k && p && !(await deleteItem(table, { k, p }, unchanged(item), budget))) return false;
  }
  return true;
};
