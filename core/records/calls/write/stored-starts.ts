import {
  asBytes,
  type Condition,
  getItems,
  type Item,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import { fromItem, type StartEntry, type StartItem } from '../codec/items.ts';
import { startKey } from '../codec/keys.ts';

/** An item's partition key as text, for lookups. */
export const keyText = (item: Item): string => Buffer.from(asBytes(item.k) ?? []).toString('latin1');

/**
 * Reads what lies under the keys of starts, strongly consistent, in any order: starts, and what is
 * reserved for them. Calls with neither are left out.
 *
 * @param calls without duplicates
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readStartEntries = async (
  store: Store,
  calls: readonly Pick<StartEntry, 'projectId' | 'id'>[],
  budget: RequestBudget,
): Promise<StartEntry[]> => {
  const byKey = new Map(calls.map((call) => [keyText(startKey(call.projectId, call.id)), call]));
  const keys = calls.map(({ projectId, id }) => startKey(projectId, id));
  const items = await getItems(store.table, keys, budget, { consistent: true });
  return items.flatMap((item) => {
    const call = byKey.get(keyText(item));
    if (!call) return [];
    const { projectId, id } = call;
    const { start, end, earlyTraces } = fromItem(store, projectId, item);
    return [{ item, projectId, id, start, end, earlyTraces }];
  });
};

/** Whether there is a start, and not only a reservation for one. */
export const hasStart = (entry: StartEntry): entry is StartItem => entry.start !== null;

/** Reads starts as {@link readStartEntries} does. Calls without a start are left out. */
export const readStarts = async (
  store: Store,
  calls: readonly Pick<StartEntry, 'projectId' | 'id'>[],
  budget: RequestBudget,
): Promise<StartItem[]> => (await readStartEntries(store, calls, budget)).filter(hasStart);

/**
 * The condition that a stored item has the header, time, inline payload and mark of a failed call
 * that were read. The time of a start is in its sort key alone.
 */
export const unchanged = ({ h, ts, b, c, ek }: Item): Condition => ({ h, ts, b, c, ek });
