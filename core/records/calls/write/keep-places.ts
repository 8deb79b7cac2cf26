import {
  type Item,
  mapConcurrent,
  type RequestBudget,
  replaceItem,
  type Store,
} from '../../../foundations/storage/index.ts';
import { type StartEntry, toItem } from '../codec/items.ts';
import { startKey } from '../codec/keys.ts';

/** The number of places kept concurrently. */
const concurrency = 8;

/** A call by its project and id. */
type CallName = Pick<StartEntry, 'projectId' | 'id'>;

/** The item that keeps the place of a start that is not known yet. */
export const placeholder = (store: Store, { projectId, id }: CallName): Item => ({
  ...toItem(store, { projectId, id, part: 'S' }, { start: null, end: null }, null),
  ...startKey(projectId, id),
});

/**
 * Keeps the places of starts that are not known yet. A start that comes later finds its key taken
 * and replaces what is there, so the stream shows that something came before it.
 *
 * @param calls without duplicates
 * @returns the calls with something under the key of their start
 * @throws ServiceError 503 when storage does not answer in time
 */
export const keepPlaces = async <T extends CallName>(
  store: Store,
  calls: readonly T[],
  budget: RequestBudget,
): Promise<T[]> => {
  const kept = await mapConcurrent(calls, concurrency, (call) =>
    replaceItem(store.table, placeholder(store, call), { k: undefined }, budget),
  );
  return calls.filter((_, i) => !kept[i]);
};
