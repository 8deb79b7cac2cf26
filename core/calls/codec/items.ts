import { asBytes, expiry, type Item, type Store, shardCount } from '../../storage/index.ts';
import type { ProjectId } from '../../wire/index.ts';
import type { EndHeader, StartHeader } from '../model.ts';
import { type HeaderContent, packHeader, unpackHeader } from './header.ts';
import {
  callIdOf,
  callKey,
  isTurn,
  type Part,
  type Placed,
  threadKeys,
  timeKeys,
  traceKeys,
} from './keys.ts';

/** What places a call in the indexes. */
export const placeOf = (projectId: ProjectId, id: string, start: StartHeader): Placed => ({
  projectId,
  id,
  startedAt: start.startedAt,
  traceId: start.traceId,
  threadId: start.threadId,
  turnId: start.turnId,
});

const indexKeys = (store: Store, place: Placed, part: Part): Item => {
  const shards = shardCount(store);
  const { threadId } = place;
  // Ends of nested calls are not in by_thread: thread statistics are computed from turns alone.
  const inThread = threadId !== null && (part === 'S' || isTurn(place));
  return {
    ...timeKeys(place, part, shards),
    ...(part === 'S' && traceKeys(place)),
    ...(inThread && threadKeys({ ...place, threadId }, part, shards)),
  };
};

/**
 * Makes the item of a call's start (with its end, where both were reported together) or of its end
 * alone.
 *
 * @param place what places it in the indexes; null for an end whose start is not known, which is
 * found by id alone
 */
export const toItem = (
  store: Store,
  key: { readonly projectId: ProjectId; readonly id: string; readonly part: Part },
  header: HeaderContent,
  place: Placed | null,
): Item => ({
  k: callKey(key.projectId, key.id),
  p: key.part,
  h: packHeader(header, { ...key, names: store.names }),
  ...(place && indexKeys(store, place, key.part)),
  ...expiry(store),
});

/** A start and its item, read from the table or about to be put there. */
export interface StartItem {
  readonly item: Item;
  readonly projectId: ProjectId;
  readonly id: string;
  readonly start: StartHeader;
  /** The end that lies in the same item. */
  readonly end: EndHeader | null;
}

/** A stored start or end, read back from the table or from an index. */
export interface StoredPart extends HeaderContent {
  readonly id: string;
  readonly part: Part;
  /** The packed payload, where it lies in the item and the item was read from the table. */
  readonly inline: Uint8Array | undefined;
}

/** Reads an item or an index row of a start or an end. */
export const fromItem = (store: Store, projectId: ProjectId, item: Item): StoredPart => {
  const [key, header] = [asBytes(item.k), asBytes(item.h)];
  if (!key || !header) throw new Error('an item of the calls table has no header');
  const id = callIdOf(projectId, key);
  const parts = unpackHeader(header, { projectId, id, names: store.names });
  return { ...parts, id, part: item.p === 'E' ? 'E' : 'S', inline: asBytes(item.b) };
};
