import {
  compactId,
  fromCompactId,
  joinBytes,
  shardOf,
  signedTimeBytes,
  sortableId,
} from '../../encoding/index.ts';
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
 *   by_trace   rk  project 0 trace id                ts  (the same; starts alone have an rk)
 *   by_thread  hk  project 0 t|n shard of the thread hs  thread id 0 started at, call id 0 S|E
 */

/** The part of a call that an item holds: its start, or its end. */
export type Part = 'S' | 'E';

/**
 * Begins a segment's id in a key. Calls' ids begin with neither this byte nor any other control.
 */
const segmentTag = 2;

/** The table's partition key of a call. */
export const callKey = (projectId: ProjectId, id: string): Buffer => joinBytes(projectId, 0, compactId(id));

/** The table's key of a call's start. */
export const startKey = (projectId: ProjectId, id: string) => ({
  k: callKey(projectId, id),
  p: 'S' satisfies Part,
});

/** The table's key of a call's end that came by itself. */
export const endKey = (projectId: ProjectId, id: string) => ({
  k: callKey(projectId, id),
  p: 'E' satisfies Part,
});

/** The call's id, out of the table's partition key. */
export const callIdOf = (projectId: ProjectId, key: Uint8Array): string =>
  fromCompactId(key.subarray(projectId.length + 1));

/** The table's partition key of a payload segment, named by hex digits. */
export const segmentKey = (projectId: ProjectId, segment: string): Buffer =>
  joinBytes(projectId, 0, segmentTag, Buffer.from(segment, 'hex'));

/** The table's key of a payload segment. */
export const segmentItemKey = (projectId: ProjectId, segment: string) => ({
  k: segmentKey(projectId, segment),
  p: 'P',
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
  joinBytes(signedTimeBytes(call.startedAt), sortableId(call.id), 0, part);

/** The attributes that place a row in `by_time`. */
export const timeKeys = (call: Placed, part: Part, shards: number) => ({
  tk: joinBytes(call.projectId, 0, shardOf(call.traceId, shards)),
  ts: timePlace(call, part),
});

/** The attribute that, with `ts`, places a start in `by_trace`. */
export const traceKeys = (call: Placed) => ({ rk: joinBytes(call.projectId, 0, compactId(call.traceId)) });

const threadPartition = (projectId: ProjectId, turns: boolean, shard: number): Buffer =>
  joinBytes(projectId, 0, turns ? 't' : 'n', shard);

/** The attributes that place a row in `by_thread`, for calls that have a thread. */
export const threadKeys = (call: Placed & { readonly threadId: string }, part: Part, shards: number) => ({
  hk: threadPartition(call.projectId, isTurn(call), shardOf(call.threadId, shards)),
  hs: joinBytes(sortableId(call.threadId), 0, timePlace(call, part)),
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
  joinBytes(prefix, bounds.from === undefined ? lowest : signedTimeBytes(bounds.from), 0),
  joinBytes(prefix, bounds.to === undefined ? lowest : signedTimeBytes(bounds.to), highest),
];

/** Every call of one shard of a project in a span of time. */
export const timeRange = (projectId: ProjectId, shard: number, bounds: TimeBounds): KeyRange => ({
  index: 'by_time',
  partition: ['tk', joinBytes(projectId, 0, shard)],
  sort: ['ts', ...sortBounds(lowest, bounds)],
});

/** Every call of one trace in a span of time. */
export const traceRange = (projectId: ProjectId, traceId: string, bounds: TimeBounds): KeyRange => ({
  index: 'by_trace',
  partition: ['rk', joinBytes(projectId, 0, compactId(traceId))],
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
  sort: ['hs', ...sortBounds(joinBytes(sortableId(threadId), 0), bounds)],
});

/** The turns of every thread in one shard of a project, thread by thread. */
export const turnsRange = (projectId: ProjectId, shard: number): KeyRange => ({
  index: 'by_thread',
  partition: ['hk', threadPartition(projectId, true, shard)],
});
