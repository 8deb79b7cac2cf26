import {
  asText,
  compareAndSwap,
  deleteItem,
  mapConcurrent,
  type RequestBudget,
  replaceItem,
  type Store,
} from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import { leftoversOf, purgedItem, unchanged } from './items.ts';
import { recordKey } from './keys.ts';
import { deleteObjects, isRecord, readStored, type Stored, type StoredRecord } from './stored.ts';

/** How many records are purged at once. */
const concurrency = 32;

/**
 * Deletes records of a project and their payloads for good. An id of nothing counts as deleted.
 * Tombstones stay, since readers need them.
 *
 * @param ids each once
 * @param isMeant which of the records to delete, as they are now. @default - all
 * @throws ServiceError 503 when some could not be deleted in time; others may have been, and the
 * same request may be sent again
 */
export const purgeFeedback = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
  isMeant: (record: StoredRecord) => boolean = () => true,
): Promise<void> => {
  const stored = await readStored(store, projectId, ids, budget);
  await mapConcurrent([...stored], concurrency, ([id, found]) =>
    purgeOne(store, projectId, { id, isMeant }, found, budget),
  );
};

/** Deletes one record, as it was read or as it has become since. */
const purgeOne = (
  store: Store,
  projectId: ProjectId,
  { id, isMeant }: { readonly id: string; readonly isMeant: (record: StoredRecord) => boolean },
  first: Stored,
  budget: RequestBudget,
): Promise<void> =>
  compareAndSwap(budget, async (round) => {
    const found = round === 0 ? first : (await readStored(store, projectId, [id], budget)).get(id);
    await deleteObjects(store, leftoversOf(found?.item), budget);
    const isGone = !isRecord(found) || !isMeant(found) || (await remove(store, projectId, id, found, budget));
    return isGone ? { value: undefined } : undefined;
  });

/**
 * Deletes a record if it is as it was read. If its payload is in the bucket, the record is hidden
 * from readers first, then the object is deleted. What leads to the object is left to expire, so
 * that a repeated purge finds what an interrupted one has left.
 */
const remove = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  { item }: StoredRecord,
  budget: RequestBudget,
): Promise<boolean> => {
  const object = asText(item.o);
  if (object === undefined) return deleteItem(store.table, recordKey(projectId, id), unchanged(item), budget);
  if (!(await replaceItem(store.table, purgedItem(item), unchanged(item), budget))) return false;
  await deleteObjects(store, [object], budget);
  return true;
};
