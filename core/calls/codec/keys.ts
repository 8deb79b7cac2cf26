import { createHash } from 'node:crypto';
import type { KeyRange } from '../../storage/index.ts';
import type { Micros, ProjectId } from '../../wire/index.ts';

/*
 * Every key of the calls table is composed here, and taken apart here. Keys are bytes. Parts are
 * set off by a zero byte, which no project, id or thread can hold, so that no two keys of different
 * parts are ever the same.
 *
 *   table      k   project 0 call id                 p   S (start) | E (end)
 *              k   project 0 2 segment id            p   P (payload segment)
 *   by_time    tk  project 0 shard of the trace      ts  started at, call id 0 S|E
 *   by_trace   rk  project 0 trace id                ts  (the same attribute; starts alone have an rk)
 *   by_thread  hk  project 0 t|n shard of the thread hs  thread id 0 started at, call id 0 S|E
 */

/** The part of a call that an item holds: its start, or its end. */
export type Part = 'S' | 'E';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const uuidTag = 1;
const segmentTag = 2;

/** The 16 bytes of a canonical UUID, or undefined for any other id. */
export const packUuid = (id: string): Buffer | undefined =>
  id.length === 36 && uuid.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : undefined;

/** The canonical UUID of 16 bytes. */
export const unpackUuid = (bytes: Uint8Array): string => {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};

const join = (...parts: (string | Uint8Array | number)[]): Buffer =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'number'
        ? Buffer.of(part)
        : typeof part === 'string'
          ? Buffer.from(part, 'utf8')
          : part,
    ),
  );

/** An id where it must only be told apart: UUIDs, the usual case, in 17 bytes instead of 36. */
const compactId = (id: string): Buffer => {
  const packed = packUuid(id);
  return packed ? join(uuidTag, packed) : Buffer.from(id, 'utf8');
};

const maxSortable = 300;
const digestLength = 64;
/** The bytes that are kept of a longer one. */
const keptLength = maxSortable - digestLength;

/**
 * An id where its order counts too: its UTF-8, whose bytes order as code points do. A sort key
 * takes 1,024 bytes and one of them holds two ids, so what is longer than 300 bytes ends in a
 * digest instead; readers put the few that this leaves out of order right by their full ids.
 */
const sortableId = (id: string): Buffer => {
  const bytes = Buffer.from(id, 'utf8');
  if (bytes.length <= maxSortable) return bytes;
  const digest = createHash('sha256').update(bytes).digest('hex');
  return join(bytes.subarray(0, keptLength), digest);
};

/**
 * Whether a digest may decide which of two ids comes first in an index, so that their order there
 * may not be their own.
 */
export const orderedByDigest = (a: string, b: string): boolean => {
  // A UTF-16 code unit takes three bytes at most.
  if (Math.min(a.length, b.length) * 3 < keptLength) return false;
  const [kept, other] = [a, b].map((id) => Buffer.from(id, 'utf8').subarray(0, keptLength)) as [
    Buffer,
    Buffer,
  ];
  return kept.equals(other);
};

/**
 * A time as seven bytes that order as the times do: its upper part, made positive, and its lower 32
 * bits.
 */
const timeBytes = (micros: Micros): Buffer => {
  const upper = Math.floor(micros / 2 ** 32);
  const bytes = Buffer.alloc(7);
  bytes.writeUIntBE(upper + 2 ** 21, 0, 3);
  bytes.writeUInt32BE(micros - upper * 2 ** 32, 3);
  return bytes;
};

/**
 * The shard of a trace or thread among `count`: FNV-1a over its UTF-16 code units, modulo the
 * count.
 */
export const shardOf = (id: string, count: number): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % count;
};

/** The table's partition key of a call. */
export const callKey = (projectId: ProjectId, id: string): Buffer => join(projectId, 0, compactId(id));

/** The table's key of a call's start. */
export const startKey = (projectId: ProjectId, id: string) => ({
  k: { B: callKey(projectId, id) },
  p: { S: 'S' satisfies Part },
});

/** The table's key of a call's end that came by itself. */
export const endKey = (projectId: ProjectId, id: string) => ({
  k: { B: callKey(projectId, id) },
  p: { S: 'E' satisfies Part },
});

/** The call's id, out of the table's partition key. */
export const callIdOf = (projectId: ProjectId, key: Uint8Array): string => {
  const id = Buffer.from(key.buffer, key.byteOffset, key.byteLength).subarray(projectId.length + 1);
  return id[0] === uuidTag ? unpackUuid(id.subarray(1)) : id.toString('utf8');
};

/** The table's partition key of a payload segment, named by hex digits. */
export const segmentKey = (projectId: ProjectId, segment: string): Buffer =>
  join(projectId, 0, segmentTag, Buffer.from(segment, 'hex'));

/** The table's key of a payload segment. */
export const segmentItemKey = (projectId: ProjectId, segment: string) => ({
  k: { B: segmentKey(projectId, segment) },
  p: { S: 'P' },
});

/** A segment's name, out of the table's partition key. */
export const segmentIdOf = (projectId: ProjectId, key: Uint8Array): string =>
  Buffer.from(key.buffer, key.byteOffset, key.byteLength)
    .subarray(projectId.length + 2)
    .toString('hex');

/** What the places of a call's rows in the indexes are made from. */
export interface Placed {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly startedAt: Micros;
  readonly traceId: string;
  readonly threadId: string | null;
  readonly turnId: string | null;
}

/** Whether the call is a turn: an immediate child of its thread, so that its id is its turn's. */
export const isTurn = (call: Pick<Placed, 'id' | 'threadId' | 'turnId'>): boolean =>
  call.threadId !== null && call.turnId === call.id;

const timePlace = (call: Placed, part: Part): Buffer =>
  join(timeBytes(call.startedAt), sortableId(call.id), 0, part);

/** The attributes that place a row in `by_time`. */
export const timeKeys = (call: Placed, part: Part, shards: number) => ({
  tk: join(call.projectId, 0, shardOf(call.traceId, shards)),
  ts: timePlace(call, part),
});

/** The attribute that, with `ts`, places a start in `by_trace`. */
export const traceKeys = (call: Placed) => ({ rk: join(call.projectId, 0, compactId(call.traceId)) });

const threadPartition = (projectId: ProjectId, turns: boolean, shard: number): Buffer =>
  join(projectId, 0, turns ? 't' : 'n', shard);

/** The attributes that place a row in `by_thread`, for calls that have a thread. */
export const threadKeys = (call: Placed & { readonly threadId: string }, part: Part, shards: number) => ({
  hk: threadPartition(call.projectId, isTurn(call), shardOf(call.threadId, shards)),
  hs: join(sortableId(call.threadId), 0, timePlace(call, part)),
});

/**
 * Where the time-ordered part of an index row's sort key begins: behind a thread's id, or at its
 * first byte.
 */
export const sortKeyOf = (item: { ts?: Uint8Array | undefined; hs?: Uint8Array | undefined }): Uint8Array => {
  if (item.hs) return item.hs.subarray(item.hs.indexOf(0) + 1);
  return item.ts ?? new Uint8Array();
};

const lowest = Buffer.alloc(0);
const highest = Buffer.of(0xff);

/** Bounds on `started_at`, inclusive; absent where there is none. */
export interface TimeBounds {
  readonly from?: Micros;
  readonly to?: Micros;
}

const sortBounds = (prefix: Buffer, bounds: TimeBounds): [Buffer, Buffer] => [
  join(prefix, bounds.from === undefined ? lowest : timeBytes(bounds.from), 0),
  join(prefix, bounds.to === undefined ? lowest : timeBytes(bounds.to), highest),
];

/** Every call of one shard of a project in a span of time. */
export const timeRange = (projectId: ProjectId, shard: number, bounds: TimeBounds): KeyRange => ({
  index: 'by_time',
  partition: ['tk', join(projectId, 0, shard)],
  sort: ['ts', ...sortBounds(lowest, bounds)],
});

/** Every call of one trace in a span of time. */
export const traceRange = (projectId: ProjectId, traceId: string, bounds: TimeBounds): KeyRange => ({
  index: 'by_trace',
  partition: ['rk', join(projectId, 0, compactId(traceId))],
  sort: ['ts', ...sortBounds(lowest, bounds)],
});

/** Every turn, or every nested call, of one thread in a span of time, in one shard. */
export const threadRange = (
  projectId: ProjectId,
  threadId: string,
  turns: boolean,
  shard: number,
  bounds: TimeBounds,
): KeyRange => ({
  index: 'by_thread',
  partition: ['hk', threadPartition(projectId, turns, shard)],
  sort: ['hs', ...sortBounds(join(sortableId(threadId), 0), bounds)],
});

/** The turns of every thread in one shard of a project, thread by thread. */
export const turnsRange = (projectId: ProjectId, shard: number): KeyRange => ({
  index: 'by_thread',
  partition: ['hk', threadPartition(projectId, true, shard)],
});
