import { asMap, asText, type Condition, type Item } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { digestKey, headKey, versionKey } from './keys.ts';
import type { ObjectName, VersionHeader } from './model.ts';

/*
 * What is stored where. An object's head has the number of versions there ever were and the header
 * of the latest. A version is its header alone, so that lists are read by the thousand. The item of
 * a digest has the header and, if it is small, the packed value. The head is the object's lock.
 * Whatever changes an object replaces the head in the same transaction, on condition that it is as
 * it was read.
 */

/** What is known of an object as a whole. */
export interface Head extends ObjectName {
  /** The index that its next version gets. */
  readonly next: number;
  /** Another number after every change. */
  readonly generation: number;
  /** The newest version that has not been deleted; null where all have been. */
  readonly latest: VersionHeader | null;
}

const toMap = (header: VersionHeader): Item => ({
  digest: header.digest,
  versionIndex: header.versionIndex,
  kind: header.kind,
  ...(header.baseObjectClass !== null && { baseObjectClass: header.baseObjectClass }),
  createdAt: header.createdAt,
  userId: header.userId,
  bytes: header.bytes,
  home: header.home,
});

const fromMap = (name: ObjectName, map: Item): VersionHeader => ({
  projectId: name.projectId,
  objectId: name.objectId,
  digest: String(map.digest),
  versionIndex: Number(map.versionIndex),
  kind: map.kind === 'op' ? 'op' : 'object',
  baseObjectClass: asText(map.baseObjectClass) ?? null,
  createdAt: Number(map.createdAt),
  userId: String(map.userId),
  bytes: Number(map.bytes),
  home: map.home === 'bucket' ? 'bucket' : 'item',
});

/** Makes the item of a head. */
export const headItem = (head: Head): Item => ({
  ...headKey(head),
  o: head.objectId,
  next: head.next,
  generation: head.generation,
  ...(head.latest && { h: toMap(head.latest) }),
});

/**
 * The condition that an object's head is as it was read, so that nothing of the object has changed.
 *
 * @param head undefined for one that was not there
 */
export const unchanged = (head: Head | undefined): Condition =>
  head ? { generation: head.generation } : { k: undefined };

/** Makes the item of a version, found by its index. */
export const versionItem = (header: VersionHeader): Item => ({
  ...versionKey(header, header.versionIndex),
  o: header.objectId,
  h: toMap(header),
});

/**
 * Makes the item of a version that its digest leads to, with its packed value unless that is in the
 * bucket.
 */
export const digestItem = (header: VersionHeader, packed: Uint8Array | null): Item => ({
  ...digestKey(header, header.digest),
  o: header.objectId,
  h: toMap(header),
  ...(packed && { b: packed }),
});

const nameIn = (projectId: ProjectId, { o }: Item): ObjectName => {
  const objectId = asText(o);
  if (objectId === undefined) throw new Error('an item of the objects table has no object id');
  return { projectId, objectId };
};

/** Reads the item of a head. */
export const toHead = (projectId: ProjectId, item: Item): Head => {
  const name = nameIn(projectId, item);
  const map = asMap(item.h);
  const latest = map ? fromMap(name, map) : null;
  return { ...name, next: Number(item.next), generation: Number(item.generation), latest };
};

/** Reads the item of a version, whether it was found by index or by digest. */
export const toHeader = (projectId: ProjectId, item: Item): VersionHeader => {
  const map = asMap(item.h);
  if (!map) throw new Error('an item of the objects table has no header');
  return fromMap(nameIn(projectId, item), map);
};
