import {
  asBytes,
  asText,
  compareAndSwap,
  deleteItem,
  type Item,
  mapConcurrent,
  type RequestBudget,
  readRange,
  replaceItem,
  type Store,
} from '../../../foundations/storage/index.ts';
import { callRef, type ProjectId } from '../../../foundations/wire/index.ts';
import { HourMarks } from '../rollups.ts';
import {
  deleteObjects,
  getLeftovers,
  isRecord,
  purgedItem,
  readRecordId,
  readStored,
  recordKey,
  refRange,
  type Stored,
  type StoredRecord,
  unchanged,
} from './items.ts';

/**
 * Marks the hours in which records were given that are about to go: rollups of issues count them.
 *
 * @throws ServiceError 503 when storage does not accept it in time; nothing may be changed then
 */
export const markFeedback = (
  store: Store,
  projectId: ProjectId,
  stored: Iterable<Stored | undefined>,
  budget: RequestBudget,
): Promise<void> =>
  new HourMarks(store, budget).mark(
    projectId,
    [...stored].flatMap((found) => (isRecord(found) ? [{ startedAt: found.entry.header.createdAt }] : [])),
  );

/** How many records are purged at once. */
const recordsAtOnce = 32;

/**
 * Deletes records of a project and their payloads for good. An id of nothing counts as deleted.
 * Tombstones stay, since readers need them.
 *
 * @param ids each once
 * @param onRef deletes only those that still are on this ref, which the indexes lead to. What an
 * interrupted deletion leaves stays in the indexes too. @default - all
 * @throws ServiceError 503 when some could not be deleted in time; others may have been, and the
 * same request may be sent again
 */
export const purgeFeedback = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
  onRef?: string,
): Promise<void> => {
  const stored = await readStored(store, projectId, ids, budget);
  await markFeedback(store, projectId, stored.values(), budget);
  await mapConcurrent([...stored], recordsAtOnce, ([id, found]) =>
    purgeOne(store, projectId, { id, onRef }, found, budget),
  );
};

/** Which record to delete, and the ref that it must be on, if that matters. */
interface Target {
  readonly id: string;
  readonly onRef: string | undefined;
}

/** Deletes one record, as it was read or as it has become since. */
const purgeOne = (
  store: Store,
  projectId: ProjectId,
  target: Target,
  first: Stored,
  budget: RequestBudget,
): Promise<void> =>
  compareAndSwap(budget, async (round) => {
    const found =
      round === 0 ? first : (await readStored(store, projectId, [target.id], budget)).get(target.id);
    await deleteObjects(store, getLeftovers(found?.item), budget);
    if (!isRecord(found) || found.entry.header.ref !== (target.onRef ?? found.entry.header.ref))
      return { value: undefined };
    return (await remove(store, projectId, target, found, budget)) ? { value: undefined } : undefined;
  });

/**
 * Deletes a record if it is as it was read. If its payload is in the bucket, the record is hidden
 * from readers first, then the object is deleted. What leads to the object is left to expire, so
 * that a repeated purge finds what an interrupted one has left.
 */
const remove = async (
  store: Store,
  projectId: ProjectId,
  { id, onRef }: Target,
  { item }: StoredRecord,
  budget: RequestBudget,
): Promise<boolean> => {
  const object = asText(item.o);
  if (object === undefined) return deleteItem(store.table, recordKey(projectId, id), unchanged(item), budget);
  const purged = purgedItem(item, onRef !== undefined);
  if (!(await replaceItem(store.table, purged, unchanged(item), budget))) return false;
  await deleteObjects(store, [object], budget);
  return true;
};

const none = new Uint8Array();

/** How many calls are looked up at once. */
const callsAtOnce = 16;

/**
 * Deletes the feedback on calls, with its payloads, for good: the records whose ref is the call's.
 * Those that name a call elsewhere stay. It takes one query for each call. The index that it reads
 * normally lags some milliseconds.
 *
 * @param callIds each once; the calls need not be there
 * @throws ServiceError 503 when some could not be deleted in time; others may have been, and the
 * same request may be sent again
 */
export const deleteFeedbackOn = async (
  store: Store,
  projectId: ProjectId,
  callIds: readonly string[],
  budget: RequestBudget,
): Promise<void> => {
  await mapConcurrent(callIds, callsAtOnce, async (callId) => {
    const ref = callRef(projectId, callId);
    // Of a record that was replaced or purged, an object in the bucket may be left.
    const options = { toRow: (item: Item) => ({ id: readRecordId(projectId, asBytes(item.k) ?? none) }) };
    for await (const rows of readRange(store.table, refRange(projectId, ref, {}), options, budget)) {
      const ids = rows.map(({ id }) => id);
      await purgeFeedback(store, projectId, ids, budget, ref);
    }
  });
};
