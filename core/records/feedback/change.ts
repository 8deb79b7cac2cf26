import { unpack } from '../../foundations/encoding/index.ts';
import { asBytes, type Item, type Store } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { toEntry } from './items.ts';
import type { FeedbackRecord } from './model.ts';

/**
 * The record of an item that a stream shows. Its payload is null if it lies in the bucket.
 *
 * @returns undefined if the item is no record: a tombstone, or what is left of a purge
 */
export const feedbackOf = async (
  store: Pick<Store, 'names'>,
  projectId: ProjectId,
  item: Item,
): Promise<FeedbackRecord | undefined> => {
  const entry = await toEntry(store, projectId, item);
  if (entry?.kind !== 'record') return undefined;
  const packed = asBytes(item.b);
  if (entry.payload !== null || !packed) return entry;
  return { ...entry, payload: (await unpack(packed)).toString('utf8') };
};
