import {
  compactId,
  fromCompactId,
  fromUnsignedTimeBytes,
  joinBytes,
  maxUnsignedTime,
  shardOf,
  shortDigest,
  unsignedTimeBytes,
  unsignedTimeLength,
} from '../../foundations/encoding/index.ts';
import type { Bounds } from '../../foundations/expression/index.ts';
import type { IndexKey, IndexRange, TableKey } from '../../foundations/storage/declared-keys.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import type { Position } from './model.ts';

/*
 * Composes and parses every key of the feedback table and of payloads in the bucket. Keys are
 * bytes. A zero byte separates what they are made of, because no project or id has one.
 *
 *   table    k   project 0 id
 *   by_time  tk  project 0 shard of the id                     t  created at
 *   by_ref   rk  project 0 digest of the ref                   t
 *   by_type  yk  project 0 shard of the id, digest of the type t
 *
 * Records of the same microsecond have the same key in an index. Readers sort them by their ids.
 */

/** The key of a record in the table. */
export const recordKey = (projectId: ProjectId, id: string): TableKey<'feedback'> => ({
  k: joinBytes(projectId, 0, compactId(id)),
});

/** Reads the record's id from its key in the table. */
export const recordIdOf = (projectId: ProjectId, key: Uint8Array): string =>
  fromCompactId(key.subarray(projectId.length + 1));

/** A position as bytes, to be stored with a record. */
export const positionBytes = ({ createdAt, id }: Position): Buffer =>
  joinBytes(unsignedTimeBytes(createdAt), id);

/** Reads a position from its bytes. */
export const positionFrom = (bytes: Uint8Array): Position => ({
  createdAt: fromUnsignedTimeBytes(bytes),
  id: Buffer.from(bytes.subarray(unsignedTimeLength)).toString('utf8'),
});

/** What a record's keys in the indexes are made from. */
export interface Indexed extends Position {
  readonly projectId: ProjectId;
  readonly ref: string;
  readonly type: string;
}

const timePartition = (projectId: ProjectId, shard: number): Buffer => joinBytes(projectId, 0, shard);
const refPartition = (projectId: ProjectId, ref: string): Buffer => joinBytes(projectId, 0, shortDigest(ref));
const typePartition = (projectId: ProjectId, shard: number, type: string): Buffer =>
  joinBytes(projectId, 0, shard, shortDigest(type));

type IndexKeys = IndexKey<'feedback', 'by_time'> &
  IndexKey<'feedback', 'by_ref'> &
  IndexKey<'feedback', 'by_type'>;

/** The keys of a record in all indexes. */
export const indexKeys = ({ projectId, id, createdAt, ref, type }: Indexed, shards: number): IndexKeys => {
  const shard = shardOf(id, shards);
  return {
    t: unsignedTimeBytes(createdAt),
    tk: timePartition(projectId, shard),
    rk: refPartition(projectId, ref),
    yk: typePartition(projectId, shard, type),
  };
};

const createdWithin = ({ from, to }: Bounds) =>
  ['t', unsignedTimeBytes(from ?? 0), unsignedTimeBytes(to ?? maxUnsignedTime)] as const;

/** The records of one shard of a project, created within bounds. */
export const timeRange = (
  projectId: ProjectId,
  shard: number,
  bounds: Bounds,
): IndexRange<'feedback', 'by_time'> => ({
  index: 'by_time',
  partition: ['tk', timePartition(projectId, shard)],
  sort: createdWithin(bounds),
});

/** The records on one ref, created within bounds. A ref of equal digest would be included. */
export const refRange = (
  projectId: ProjectId,
  ref: string,
  bounds: Bounds,
): IndexRange<'feedback', 'by_ref'> => ({
  index: 'by_ref',
  partition: ['rk', refPartition(projectId, ref)],
  sort: createdWithin(bounds),
});

/**
 * The records of one type in one shard of a project, created within bounds; as {@link refRange}.
 */
export const typeRange = (
  projectId: ProjectId,
  shard: number,
  type: string,
  bounds: Bounds,
): IndexRange<'feedback', 'by_type'> => ({
  index: 'by_type',
  partition: ['yk', typePartition(projectId, shard, type)],
  sort: createdWithin(bounds),
});

/**
 * The key of a payload in the bucket. It has a digest of the id, since an id may make a bad key,
 * `..` for one. Payloads that expire have the prefix of a lifecycle rule.
 *
 * @param nonce a new one for every attempt to store a record, so that deleting the payload of one
 * attempt never deletes that of another
 */
export const payloadObject = (
  { projectId, id }: { readonly projectId: ProjectId; readonly id: string },
  nonce: string,
  retentionDays: number | undefined,
): string => {
  const home = retentionDays === undefined ? 'kept' : `expiring-${retentionDays}`;
  return `feedback/${home}/${projectId}/${shortDigest(id).toString('hex')}-${nonce}.zst`;
};
