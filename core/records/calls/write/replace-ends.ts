import { isDeepStrictEqual } from 'node:util';
import {
  compareAndSwapAll,
  getItems,
  type Item,
  mapConcurrent,
  type RequestBudget,
  replaceItem,
  type Store,
} from '../../../foundations/storage/index.ts';
import { packHeader } from '../codec/header.ts';
import { fromItem, type StartItem } from '../codec/items.ts';
import { endKey } from '../codec/keys.ts';
import type { EndHeader } from '../model.ts';
import { former, hasFormer, lostPointers, noteFormer } from '../payloads/former.ts';
import type { ReportedCall } from './group-reports.ts';
import { keyText, readStarts, unchanged } from './stored-starts.ts';

/** The number of calls written concurrently. */
const concurrency = 8;

/** A reported end with the item to store. */
export interface ReportedEnd extends Pick<ReportedCall, 'projectId' | 'id'> {
  readonly item: Item;
  readonly end: EndHeader;
}

/**
 * Replaces stored ends by reported ones. Each is a conditional write of its own, and a concurrent
 * change is read again. Notes keep the pointers to payloads that are replaced.
 *
 * @param ends with the items to store
 * @throws ServiceError 503 when storage does not accept them in time
 */
export const replaceEnds = async (
  store: Store,
  ends: readonly ReportedEnd[],
  budget: RequestBudget,
): Promise<void> => {
  const noted = new Set<ReportedEnd>();
  await compareAndSwapAll(budget, ends, async (left) => {
    const keys = left.map(({ projectId, id }) => endKey(projectId, id));
    const items = await getItems(store.table, keys, budget, { consistent: true });
    const stored = new Map(items.map((item) => [keyText(item), item]));
    const lost = left.flatMap((report) => {
      const { projectId, id, item, end } = report;
      const before = stored.get(keyText(item));
      const pointers = before ? lostPointers(fromItem(store, projectId, before), { start: null, end }) : [];
      if (pointers.length > 0) noted.add(report);
      return pointers.map((pointer) => ({ projectId, id, pointer }));
    });
    await noteFormer(store, lost, budget);
    const done = await mapConcurrent(left, concurrency, (report) => {
      const before = stored.get(keyText(report.item));
      const marked = noted.has(report) || (before && hasFormer(before));
      const item = marked ? { ...report.item, ...former } : report.item;
      if (!before) return replaceItem(store.table, item, { k: undefined }, budget);
      if (isSame(item, before)) return Promise.resolve(true);
      return replaceItem(store.table, item, unchanged(before), budget);
    });
    return left.filter((_, i) => !done[i]);
  });
};

/**
 * Whether two items have the same content and place in the indexes. A repeated report does not
 * extend the expiry.
 */
const isSame = ({ x: a, ...item }: Item, { x: b, ...other }: Item): boolean =>
  isDeepStrictEqual(plain(item), plain(other)) && (a === undefined) === (b === undefined);

/** An item with its bytes in one type, whoever made them. */
const plain = (item: Item): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Uint8Array.from(value) : value,
    ]),
  );

/**
 * Removes ends from the items of starts after an end was reported by itself. An end beside its
 * start overrides the one by itself, so the stale one must go. A changed item is read again,
 * because a concurrent report may have retained the end.
 *
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const dropEnds = (store: Store, stored: readonly StartItem[], budget: RequestBudget): Promise<void> =>
  compareAndSwapAll(budget, stored.filter(hasEnd), async (left, round) => {
    const starts = round === 0 ? left : (await readStarts(store, left, budget)).filter(hasEnd);
    const lost = starts.map(({ projectId, id, start, end }) => ({
      ...{ projectId, id },
      pointers: lostPointers({ start, end }, { start, end: null }),
    }));
    await noteFormer(
      store,
      lost.flatMap(({ pointers, ...call }) => pointers.map((pointer) => ({ ...call, pointer }))),
      budget,
    );
    const done = await mapConcurrent(
      starts,
      concurrency,
      ({ item, projectId, id, start, earlyTraces }, i) => {
        const h = packHeader({ start, end: null, earlyTraces }, { projectId, id, names: store.names });
        const marked = (lost[i]?.pointers.length ?? 0) > 0 ? former : {};
        return replaceItem(store.table, { ...item, h, ...marked }, unchanged(item), budget);
      },
    );
    return starts.filter((_, i) => !done[i]);
  });

const hasEnd = ({ end }: StartItem): boolean => end !== null;
