import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Condition, Item } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import { digestKey, headKey, versionKey } from './keys.ts';
import type { ObjectName, VersionHeader } from './model.ts';

/*
 * What lies where: an object's head has how many versions there ever were and the header of the
 * latest; a version is its header alone, so that lists are read by the thousand; the item that a
 * digest leads to has the header and, if it is small, the packed value. The head is the object's
 * lock: whatever changes an object replaces its head in the same transaction, provided that nobody
 * else has since it was read.
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

const text = (value: string): AttributeValue => ({ S: value });
const number = (value: number): AttributeValue => ({ N: String(value) });

const toMap = (header: VersionHeader): AttributeValue => ({
  M: {
    digest: text(header.digest),
    versionIndex: number(header.versionIndex),
    kind: text(header.kind),
    ...(header.baseObjectClass !== null && { baseObjectClass: text(header.baseObjectClass) }),
    createdAt: number(header.createdAt),
    userId: text(header.userId),
    bytes: number(header.bytes),
    home: text(header.home),
  },
});

const fromMap = (name: ObjectName, map: Item): VersionHeader => ({
  projectId: name.projectId,
  objectId: name.objectId,
  digest: String(map.digest?.S),
  versionIndex: Number(map.versionIndex?.N),
  kind: map.kind?.S === 'op' ? 'op' : 'object',
  baseObjectClass: map.baseObjectClass?.S ?? null,
  createdAt: Number(map.createdAt?.N),
  userId: String(map.userId?.S),
  bytes: Number(map.bytes?.N),
  home: map.home?.S === 'bucket' ? 'bucket' : 'item',
});

/** Makes the item of a head. */
export const headItem = (head: Head): Item => ({
  ...headKey(head),
  o: text(head.objectId),
  next: number(head.next),
  generation: number(head.generation),
  ...(head.latest && { h: toMap(head.latest) }),
});

/**
 * That an object's head is as it was read, so that nothing of the object has changed since;
 * undefined for one that was not there.
 */
export const unchanged = (head: Head | undefined): Condition =>
  head ? { generation: number(head.generation) } : { k: undefined };

/** Makes the item of a version, found by its index. */
export const versionItem = (header: VersionHeader): Item => ({
  ...versionKey(header, header.versionIndex),
  o: text(header.objectId),
  h: toMap(header),
});

/**
 * Makes the item of a version, found by its digest; with its packed value, unless that lies in the
 * bucket.
 */
export const digestItem = (header: VersionHeader, packed: Uint8Array | null): Item => ({
  ...digestKey(header, header.digest),
  o: text(header.objectId),
  h: toMap(header),
  ...(packed && { b: { B: packed } }),
});

const nameIn = (projectId: ProjectId, { o }: Item): ObjectName => {
  if (o?.S === undefined) throw new Error('an item of the objects table has no object id');
  return { projectId, objectId: o.S };
};

/** Reads the item of a head. */
export const toHead = (projectId: ProjectId, item: Item): Head => {
  const name = nameIn(projectId, item);
  const latest = item.h?.M ? fromMap(name, item.h.M) : null;
  return { ...name, next: Number(item.next?.N), generation: Number(item.generation?.N), latest };
};

/** Reads the item of a version, whether it was found by index or by digest. */
export const toHeader = (projectId: ProjectId, item: Item): VersionHeader => {
  if (!item.h?.M) throw new Error('an item of the objects table has no header');
  return fromMap(nameIn(projectId, item), item.h.M);
};
