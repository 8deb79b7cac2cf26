import { deleteItems, type Effort, forEach, replaceItem } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import { leftoversOf, purgedItem, unchanged } from './items.ts';
import { recordKey } from './keys.ts';
import type { FeedbackStore } from './store.ts';
import { deleteObjects, isRecord, readStored, type Stored, type StoredRecord } from './stored.ts';

/** How many records with objects in the bucket are purged at once. */
const concurrency = 8;

/**
 * Deletes records of a project, and their payloads for good. Ids of nothing are as good as deleted; tombstones stay, since readers need them.
 *
 * @param ids each once
 * @throws ServiceError 503 when some could not be deleted in time; others may have been, and the same request may be sent again
 */
export const purgeFeedback = async (
  store: FeedbackStore,
  projectId: ProjectId,
  ids: readonly string[],
  effort: Effort,
): Promise<void> => {
  const stored = await readStored(store, projectId, ids, effort);
  const plain: string[] = [];
  const withObjects: [string, Stored][] = [];
  for (const [id, found] of stored) {
    if (found.item.o || found.item.g) withObjects.push([id, found]);
    else if (isRecord(found)) plain.push(id);
  }
  await deleteItems(
    store.table,
    plain.map((id) => recordKey(projectId, id)),
    effort,
  );
  await forEach(withObjects, concurrency, ([id, found]) =>
    purgeWithObject(store, projectId, id, found, effort),
  );
};

/**
 * Deletes a record whose payload lies in the bucket: it goes out of readers' sight first, then its object goes, then what leads to it, so that a repeated
 * purge finds what one that was broken off has left.
 */
const purgeWithObject = async (
  store: FeedbackStore,
  projectId: ProjectId,
  id: string,
  first: Stored,
  effort: Effort,
): Promise<void> => {
  let found: Stored | undefined = first;
  while (isRecord(found)) {
    await deleteObjects(store, leftoversOf(found.item), effort);
    if (await hide(store, found, effort)) {
      await deleteObjects(store, found.item.o?.S === undefined ? [] : [found.item.o.S], effort);
      return;
    }
    found = (await readStored(store, projectId, [id], effort)).get(id);
  }
  await deleteObjects(store, leftoversOf(found?.item), effort);
};

const hide = ({ table }: FeedbackStore, { item }: StoredRecord, effort: Effort): Promise<boolean> =>
  replaceItem(table, purgedItem(item), unchanged(item), effort);
