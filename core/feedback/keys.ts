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
} from '../encoding/index.ts';
import type { Bounds } from '../expression/index.ts';
import type { IndexKey, IndexRange, TableKey } from '../storage/declared-keys.ts';
import type { ProjectId } from '../wire/index.ts';
import type { Position } from './model.ts';

/*
 * Every key of the feedback table, and of payloads in the bucket, is composed here, and taken apart
 * here. Keys are bytes. Parts are set off by a zero byte, which no project and no id can hold.
 *
 *   table    k   project 0 id
 *   by_time  tk  project 0 shard of the id                     t  created at
 *   by_ref   rk  project 0 digest of the ref                   t
 *   by_type  yk  project 0 shard of the id, digest of the type t
 *
 * Rows of an index that were created in the same microsecond have the same key there; readers put
 * them in order of their ids.
 */

/** The table's key of a record. */
export const recordKey = (projectId: ProjectId, id: string): TableKey<'feedback'> => ({
  k: joinBytes(projectId, 0, compactId(id)),
});

/** The record's id, out of the table's key. */
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

/** The attributes that place a record in the indexes. */
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

/** Every record of one shard of a project that was created in a span of time. */
export const timeRange = (
  projectId: ProjectId,
  shard: number,
  bounds: Bounds,
): IndexRange<'feedback', 'by_time'> => ({
  index: 'by_time',
  partition: ['tk', timePartition(projectId, shard)],
  sort: createdWithin(bounds),
});

/**
 * Every record on one ref in a span of time; and, with luck beyond all measure, on another whose
 * digest is the same.
 */
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
 * Every record of one type, in one shard of a project, in a span of time; digests as in
 * {@link refRange}.
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
 * The bucket's key of a payload. The id is in it as a hash: ids may hold what makes bad keys, `..`
 * for one. What expires has a prefix of its own, which a lifecycle rule of the bucket names.
 *
 * @param nonce another one for every attempt to store a record: who deletes the payload of one can
 * never meet that of another
 */
export const payloadObject = (
  { projectId, id }: { readonly projectId: ProjectId; readonly id: string },
  nonce: string,
  retentionDays: number | undefined,
): string => {
  const home = retentionDays === undefined ? 'kept' : `expiring-${retentionDays}`;
  return `feedback/${home}/${projectId}/${shortDigest(id).toString('hex')}-${nonce}.zst`;
};
