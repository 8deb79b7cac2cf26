import {
  compareAndSwapAll,
  mapConcurrent,
  type RequestBudget,
  replaceItem,
  type Store,
} from '../../../foundations/storage/index.ts';
import { indexedFieldsOf, isMarked, type StartItem, toItem } from '../codec/items.ts';
import { unplacedError } from '../codec/keys.ts';
import { placeholder } from './keep-places.ts';
import { readStartEntries, unchanged } from './stored-starts.ts';

/** The number of calls marked concurrently. */
const concurrency = 8;

/**
 * Enters calls into the list of failed ones, after their ends were reported by themselves and
 * stored. Ends beside their starts enter by themselves. The start is written again with a key for
 * that index. An item without a start keeps the
 * place of one that is not known yet. Such a start cannot be inserted then, and takes the mark
 * over.
 *
 * A mark is never taken back, except by a start and end together: a reader of the list looks at the
 * end in force anyway. So two requests cannot lose the mark of a call that one of them has failed.
 *
 * @param known the starts that the ends were stored with, as they were read before that
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const markFailed = (
  store: Store,
  calls: readonly Pick<StartItem, 'projectId' | 'id'>[],
  known: readonly StartItem[],
  budget: RequestBudget,
): Promise<void> =>
  compareAndSwapAll(budget, calls, async (left, round) => {
    // A mark that was read before the end was stored may be gone, so it is looked for again.
    const before = round === 0 ? known.filter(({ item }) => !isMarked(item)) : [];
    const isSame = (a: (typeof left)[number], b: (typeof left)[number]) =>
      a.id === b.id && a.projectId === b.projectId;
    const unread = left.filter((call) => !before.some((start) => isSame(start, call)));
    const read = unread.length > 0 ? await readStartEntries(store, unread, budget) : [];
    const done = await mapConcurrent(left, concurrency, async (call) => {
      const stored = [...before, ...read].find((start) => isSame(start, call));
      if (!stored) {
        const place = { ...placeholder(store, call), ...unplacedError };
        return replaceItem(store.table, place, { k: undefined }, budget);
      }
      const { item, projectId, id, start, end } = stored;
      if (isMarked(item)) return true;
      if (start === null)
        return replaceItem(store.table, { ...item, ...unplacedError }, unchanged(item), budget);
      const indexed = indexedFieldsOf(projectId, id, start);
      const { ek } = toItem(store, { projectId, id, part: 'S' }, { start, end }, indexed, true);
      const marked = { ...item, ...(ek !== undefined && { ek }) };
      return replaceItem(store.table, marked, unchanged(item), budget);
    });
    return left.filter((_, i) => !done[i]);
  });
