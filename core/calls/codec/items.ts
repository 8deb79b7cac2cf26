import { asBytes, expiry, type Item, type Store, shardCount } from '../../storage/index.ts';
import type { ProjectId } from '../../wire/index.ts';
import type { EndHeader, StartHeader } from '../model.ts';
import { type HeaderContent, packHeader, unpackHeader } from './header.ts';
import {
  callIdOf,
  callKey,
  type IndexedFields,
  isTurn,
  type Part,
  threadKeys,
  timeKeys,
  traceKeys,
} from './keys.ts';

/** The fields of a call that its index keys are made from. */
export const indexedFieldsOf = (projectId: ProjectId, id: string, start: StartHeader): IndexedFields => ({
  projectId,
  id,
  startedAt: start.startedAt,
  traceId: start.traceId,
  parentId: start.parentId,
  threadId: start.threadId,
  turnId: start.turnId,
});

const indexKeys = (store: Store, indexed: IndexedFields, part: Part): Item => {
  const shards = shardCount(store);
  const { threadId } = indexed;
  // Ends of nested calls are not in by_thread: thread statistics are computed from turns alone.
  const inThread = threadId !== null && (part === 'S' || isTurn(indexed));
  return {
    ...timeKeys(indexed, part, shards),
    ...(part === 'S' && traceKeys(indexed)),
    ...(inThread && threadKeys({ ...indexed, threadId }, part, shards)),
  };
};

/**
 * Makes the item of a call's start, with the end if both were reported together, or of its end by
 * itself.
 *
 * @param indexed the fields for the index keys; null for an end whose start is unknown, which is
 * found by id only
 */
export const toItem = (
  store: Store,
  key: { readonly projectId: ProjectId; readonly id: string; readonly part: Part },
  header: HeaderContent,
  indexed: IndexedFields | null,
): Item => ({
  k: callKey(key.projectId, key.id),
  p: key.part,
  h: packHeader(header, { ...key, names: store.names }),
  ...(indexed && indexKeys(store, indexed, key.part)),
  ...expiry(store),
});

/** A start with its item, read from the table or about to be put there. */
export interface StartItem {
  readonly item: Item;
  readonly projectId: ProjectId;
  readonly id: string;
  readonly start: StartHeader;
  /** The end in the same item. */
  readonly end: EndHeader | null;
}

/** A stored start or end, read from the table or an index. */
export interface StoredPart extends HeaderContent {
  readonly id: string;
  readonly part: Part;
  /** The packed payload, if it is inline and the item was read from the table. */
  readonly inline: Uint8Array | undefined;
}

/**
 * Reads an item or an index row of a start or an end.
 *
 * @throws Error if it has no header
 */
export const fromItem = (store: Store, projectId: ProjectId, item: Item): StoredPart => {
  const [key, header] = [asBytes(item.k), asBytes(item.h)];
  if (!key || !header) throw new Error('an item of the calls table has no header');
  const id = callIdOf(projectId, key);
  const parts = unpackHeader(header, { projectId, id, names: store.names });
  return { ...parts, id, part: item.p === 'E' ? 'E' : 'S', inline: asBytes(item.b) };
};
