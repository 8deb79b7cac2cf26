import { createHash } from 'node:crypto';
import { UUID } from 'uuidv7';
import { shardOf } from '../calls/index.ts';
import type { Bounds } from '../expression/index.ts';
import type { KeyRange } from '../storage/index.ts';
import type { Micros, ProjectId } from '../wire/index.ts';
import type { Place } from './model.ts';

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

const canonicalUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const uuidTag = 1;

const withProject = (projectId: ProjectId, ...parts: Uint8Array[]): Buffer =>
  Buffer.concat([Buffer.from(`${projectId}\0`, 'utf8'), ...parts]);

/** An id where it must only be told apart: UUIDs, the usual case, in 17 bytes instead of 36. */
const compactId = (id: string): Uint8Array =>
  canonicalUuid.test(id) ? Buffer.of(uuidTag, ...UUID.parse(id).bytes) : Buffer.from(id, 'utf8');

/** Sixteen bytes that stand for a text that can be long. */
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest().subarray(0, 16);

/** The table's key of a record. */
export const recordKey = (projectId: ProjectId, id: string) => ({
  k: { B: withProject(projectId, compactId(id)) },
});

/** The record's id, out of the table's key. */
export const recordIdOf = (projectId: ProjectId, key: Uint8Array): string => {
  const id = Buffer.from(key.buffer, key.byteOffset, key.byteLength).subarray(projectId.length + 1);
  return id[0] === uuidTag ? UUID.ofInner(Uint8Array.from(id.subarray(1))).toString() : id.toString('utf8');
};

const latest = Number.MAX_SAFE_INTEGER;

/** A time as eight bytes that order as times do; none before 1970 is ever stored. */
const timeBytes = (micros: Micros): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(Math.min(Math.max(micros, 0), latest)));
  return bytes;
};

/** The time, out of the indexes' sort key. */
export const timeOf = (bytes: Uint8Array): Micros =>
  Number(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readBigUInt64BE());

/** A place as bytes, to be kept beside a record. */
export const placeBytes = ({ createdAt, id }: Place): Buffer =>
  Buffer.concat([timeBytes(createdAt), Buffer.from(id, 'utf8')]);

/** A place, out of its bytes. */
export const placeFrom = (bytes: Uint8Array): Place => ({
  createdAt: timeOf(bytes.subarray(0, 8)),
  id: Buffer.from(bytes.subarray(8)).toString('utf8'),
});

/** What the places of a record's rows in the indexes are made from. */
export interface Indexed extends Place {
  readonly projectId: ProjectId;
  readonly ref: string;
  readonly type: string;
}

const timePartition = (projectId: ProjectId, shard: number): Buffer =>
  withProject(projectId, Buffer.of(shard));
const refPartition = (projectId: ProjectId, ref: string): Buffer => withProject(projectId, digestOf(ref));
const typePartition = (projectId: ProjectId, shard: number, type: string): Buffer =>
  withProject(projectId, Buffer.of(shard), digestOf(type));

/** The attributes that place a record in the indexes. */
export const indexKeys = ({ projectId, id, createdAt, ref, type }: Indexed, shards: number) => {
  const shard = shardOf(id, shards);
  return {
    t: { B: timeBytes(createdAt) },
    tk: { B: timePartition(projectId, shard) },
    rk: { B: refPartition(projectId, ref) },
    yk: { B: typePartition(projectId, shard, type) },
  };
};

const rangeOf = (index: string, key: string, partition: Uint8Array, { from, to }: Bounds): KeyRange => ({
  index,
  partition: [key, partition],
  sort: ['t', timeBytes(from ?? 0), timeBytes(to ?? latest)],
});

/** Every record of one shard of a project that was created in a span of time. */
export const timeRange = (projectId: ProjectId, shard: number, bounds: Bounds): KeyRange =>
  rangeOf('by_time', 'tk', timePartition(projectId, shard), bounds);

/**
 * Every record on one ref in a span of time; and, with luck beyond all measure, on another whose
 * digest is the same.
 */
export const refRange = (projectId: ProjectId, ref: string, bounds: Bounds): KeyRange =>
  rangeOf('by_ref', 'rk', refPartition(projectId, ref), bounds);

/**
 * Every record of one type, in one shard of a project, in a span of time; digests as in
 * {@link refRange}.
 */
export const typeRange = (projectId: ProjectId, shard: number, type: string, bounds: Bounds): KeyRange =>
  rangeOf('by_type', 'yk', typePartition(projectId, shard, type), bounds);

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
  return `feedback/${home}/${projectId}/${digestOf(id).toString('hex')}-${nonce}.zst`;
};
