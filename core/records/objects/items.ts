import { shortDigest } from '../../../foundations/encoding/index.ts';
import {
  asMap,
  asText,
  type Condition,
  type Item,
  type Transaction,
} from '../../../foundations/storage/index.ts';
import type { TableKey, TableRange } from '../../../foundations/storage/tables.ts';
import { type ProjectId, versionIndexes } from '../../../foundations/wire/index.ts';
import type { ObjectName, VersionHeader } from './model.ts';

/*
 * Every key of the objects table, and of values in the bucket, is composed here. Keys are bytes.
 * Parts are set off by a zero byte, which no project and no object id can hold.
 *
 *   head      k  project 0 h             s  object id
 *   version   k  project 0 v             s  object id 0 version index
 *   digest    k  project 0 d object id   s  digest
 *   note      k  project 0 n             s  object id 0 version index, digest
 *   label     k  project 0 l             s  object id 0 a alias, or object id 0 t digest 0 tag
 *   move      k  project 0 m             s  object id 0 id of the move, a UUIDv7
 *   member    k  project 0 c             s  class 0 object id
 *
 * A version's index is four bytes, so that versions are in order of their objects' ids (by code
 * point), then of their indexes.
 */

type Kind = 'h' | 'v' | 'd' | 'n' | 'l' | 'm' | 'c';

const partition = (projectId: ProjectId, kind: Kind, objectId = ''): Buffer =>
  Buffer.from(`${projectId}\0${kind}${objectId}`, 'utf8');

const indexBytes = (versionIndex: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(versionIndex);
  return bytes;
};

const versionSortKey = (objectId: string, versionIndex: number): Buffer =>
  Buffer.concat([Buffer.from(`${objectId}\0`, 'utf8'), indexBytes(versionIndex)]);

const key = (k: Uint8Array, s: Uint8Array): TableKey<'objects'> => ({ k, s });

export const headKey = ({ projectId, objectId }: ObjectName) =>
  key(partition(projectId, 'h'), Buffer.from(objectId, 'utf8'));

/** The key of a version, by its index. */
export const versionKey = ({ projectId, objectId }: ObjectName, versionIndex: number) =>
  key(partition(projectId, 'v'), versionSortKey(objectId, versionIndex));

/** The key of a version with its value, by its digest. */
export const digestKey = ({ projectId, objectId }: ObjectName, digest: string) =>
  key(partition(projectId, 'd', objectId), Buffer.from(digest, 'utf8'));

export const aliasKey = ({ projectId, objectId }: ObjectName, alias: string) =>
  key(partition(projectId, 'l'), Buffer.from(`${objectId}\0a${alias}`, 'utf8'));

/** The key of a tag of a version. */
export const tagKey = ({ projectId, objectId }: ObjectName, digest: string, tag: string) =>
  key(partition(projectId, 'l'), Buffer.from(`${objectId}\0t${digest}\0${tag}`, 'utf8'));

/** The labels of an object, or of all objects of a project. */
export const labelRange = (projectId: ProjectId, objectId: string | null): TableRange<'objects'> => ({
  partition: ['k', partition(projectId, 'l')],
  ...(objectId !== null && {
    sort: ['s', Buffer.from(`${objectId}\0`, 'utf8'), Buffer.from(`${objectId}\x01`, 'utf8')],
  }),
});

/** The aliases of an object, without its tags. */
export const aliasRange = ({ projectId, objectId }: ObjectName): TableRange<'objects'> => ({
  partition: ['k', partition(projectId, 'l')],
  sort: ['s', Buffer.from(`${objectId}\0a`, 'utf8'), Buffer.from(`${objectId}\0b`, 'utf8')],
});

/** The key of what is remembered of a move of an alias. */
export const moveKey = ({ projectId, objectId }: ObjectName, id: string) =>
  key(partition(projectId, 'm'), Buffer.from(`${objectId}\0${id}`, 'utf8'));

/** The moves of an object's aliases, in order of time. */
export const moveRange = ({ projectId, objectId }: ObjectName): TableRange<'objects'> => ({
  partition: ['k', partition(projectId, 'm')],
  sort: ['s', Buffer.from(`${objectId}\0`, 'utf8'), Buffer.from(`${objectId}\x01`, 'utf8')],
});

/** What tells a value in the bucket from all others. */
export type ValueName = Pick<VersionHeader, 'projectId' | 'objectId' | 'versionIndex' | 'digest'>;

/** The objects of a class that means something to the service, in the order of their ids. */
export const memberRange = (projectId: ProjectId, className: string): TableRange<'objects'> => ({
  partition: ['k', partition(projectId, 'c')],
  sort: ['s', Buffer.from(`${className}\0`, 'utf8'), Buffer.from(`${className}\x01`, 'utf8')],
});

/** The key of the note that a value may lie in the bucket without a version to it. */
export const noteKey = ({ projectId, objectId, versionIndex, digest }: ValueName) =>
  key(
    partition(projectId, 'n'),
    Buffer.concat([versionSortKey(objectId, versionIndex), Buffer.from(digest, 'utf8')]),
  );

/**
 * The bucket's key of a value. It has a hash of the object's id, since an id may make a bad key:
 * `..` for one. It has the version's index, since a value that is deleted and made again is another
 * version: deleting the first must not delete the second.
 */
export const valueObject = ({ projectId, objectId, versionIndex, digest }: ValueName): string => {
  const object = shortDigest(objectId).toString('hex');
  return `objects/${projectId}/${object}/${versionIndex}-${digest}.zst`;
};

/** What lists of a project's objects are read from: members of classes, labels and their moves, heads, versions. */
export const listRanges = (
  projectId: ProjectId,
): readonly { readonly kind: Kind; readonly range: TableRange<'objects'> }[] =>
  (['c', 'l', 'm', 'h', 'v'] as const).map((kind) => ({
    kind,
    range: { partition: ['k', partition(projectId, kind)] },
  }));

const highest = Buffer.of(0xff);

/** Every head of a project, in the order of the objects' ids. */
export const headRange = (projectId: ProjectId): TableRange<'objects'> => ({
  partition: ['k', partition(projectId, 'h')],
});

/** Every version in a project, by the objects' ids and the versions' indexes. */
export const projectRange = (projectId: ProjectId): TableRange<'objects'> => ({
  partition: ['k', partition(projectId, 'v')],
});

/** The versions of one object, by index; those below a bound (1 or more), where there is one. */
export const versionRange = (
  { projectId, objectId }: ObjectName,
  below = versionIndexes,
): TableRange<'objects'> => ({
  partition: ['k', partition(projectId, 'v')],
  sort: ['s', versionSortKey(objectId, 0), versionSortKey(objectId, below - 1)],
});

/** Every note of one object on a value whose version index is below a bound (1 or more). */
export const noteRange = ({ projectId, objectId }: ObjectName, below: number): TableRange<'objects'> => ({
  partition: ['k', partition(projectId, 'n')],
  sort: ['s', versionSortKey(objectId, 0), Buffer.concat([versionSortKey(objectId, below - 1), highest])],
});

/*
 * What is stored where. An object's head has the number of versions there ever were and the header
 * of the latest. A version is its header alone, so that lists are read by the thousand. The item of
 * a digest has the header and, if it is small, the packed value. The head is the object's lock.
 * Whatever changes an object replaces the head in the same transaction, on condition that it is as
 * it was read. An object whose latest version means something to the service is a member of its class, so
 * that finding these takes no look at others.
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
  ...(header.meaning !== null && { meaning: header.meaning }),
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
  meaning: asText(map.meaning) ?? null,
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

const memberKey = ({ projectId, objectId }: ObjectName, className: string): TableKey<'objects'> =>
  key(partition(projectId, 'c'), Buffer.from(`${className}\0${objectId}`, 'utf8'));

/**
 * What a transaction does to the members of classes when an object gets another latest version.
 *
 * @param before the latest version so far; null if there is none
 * @param after the latest version since; null if there is none
 */
export const memberChanges = (
  before: VersionHeader | null,
  after: VersionHeader | null,
): Required<Pick<Transaction, 'puts' | 'deletes'>> => {
  if (before === after) return { puts: [], deletes: [] };
  const joined = after?.meaning ?? null;
  const left = before?.meaning ?? null;
  return {
    puts:
      after && joined !== null
        ? [{ item: { ...memberKey(after, joined), o: after.objectId, h: toMap(after) } }]
        : [],
    deletes: before && left !== null && left !== joined ? [memberKey(before, left)] : [],
  };
};

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
