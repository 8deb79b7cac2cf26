import {
  asBytes,
  deleteObject,
  getItems,
  type Item,
  mapConcurrent,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import type { NewRecord } from './draft.ts';
import { attributesButPayload, toEntry } from './items.ts';
import { recordKey } from './keys.ts';
import type { Entry, FeedbackRecord } from './model.ts';

/** An item of the table as a writer sees it. */
export interface Stored {
  /** Without a payload that is beside the head. */
  readonly item: Item;
  /** Undefined if there is nothing for a reader. */
  readonly entry: Entry | undefined;
}

/**
 * Reads items by their ids, strongly consistent and without payloads.
 *
 * @param ids each once
 * @returns what is there, by id
 * @throws ServiceError 503 when storage does not give them in time
 */
export const readStored = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<Map<string, Stored>> => {
  const names = new Map(ids.map((id) => [keyText(recordKey(projectId, id)), id]));
  const keys = ids.map((id) => recordKey(projectId, id));
  const items = await getItems(store.table, keys, budget, {
    consistent: true,
    attributes: attributesButPayload,
  });
  const found = await mapConcurrent(items, items.length || 1, async (item): Promise<[string, Stored]> => {
    const entry = await toEntry(store, projectId, item);
    return [names.get(keyText(item)) ?? '', { item, entry }];
  });
  return new Map(found);
};

const keyText = ({ k }: Item): string => Buffer.from(asBytes(k) ?? []).toString('latin1');

/** How many objects of the bucket are deleted at once. */
const concurrency = 16;

/**
 * Deletes objects in the bucket that are not needed any more.
 *
 * @throws ServiceError 503 when the bucket does not do it in time
 */
export const deleteObjects = async (
  store: Store,
  objects: readonly string[],
  budget: RequestBudget,
): Promise<void> => {
  await mapConcurrent(objects, concurrency, (object) => deleteObject(store.bucket, object, budget));
};

/** A stored item that is a record, with its head. */
export type StoredRecord = Stored & { readonly entry: FeedbackRecord };

/** Whether there is a record: neither nothing nor a tombstone. */
export const isRecord = (stored: Stored | undefined): stored is StoredRecord =>
  stored?.entry?.kind === 'record';

/** Whether a stored record has the content of another. */
export const hasContent = ({ item }: StoredRecord, { digest }: Pick<NewRecord, 'digest'>): boolean => {
  const own = asBytes(item.d);
  return own !== undefined && Buffer.compare(own, digest) === 0;
};
