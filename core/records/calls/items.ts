import {
  chooseShard,
  compactId,
  fromCompactId,
  joinBytes,
  shortDigest,
  signedTimeBytes,
  sortableId,
} from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  type Condition,
  expiry,
  getItems,
  type Item,
  type RequestBudget,
  type Store,
  shardCount,
} from '../../../foundations/storage/index.ts';
import type { IndexKey, IndexRange, KeyName, TableKey } from '../../../foundations/storage/tables.ts';
import { type Micros, type ProjectId, qualifiedId } from '../../../foundations/wire/index.ts';
import { type HeaderContent, packHeader, unpackHeader } from './header.ts';
import type { CallPart, EndHeader, PayloadPointer, StartHeader } from './model.ts';

/*
 * Every key of the calls table is composed and parsed here. Keys are bytes. A zero byte separates
 * their components; no project, id or thread contains one, so different components never give equal
 * keys.
 *
 *   table      k   project 0 call id                 p   S (start) | E (end)
 *              k   project 0 2 segment id            p   P (payload segment) | V (its previews)
 *              k   project 0 3 call id               p   N, pointer to a former payload
 *              k   project 0 4 call id               p   L, time and digest of a log record
 *              k   project 0 5 place                 p   A, digest of what a request said of agents
 *              k   project 0 6 trace id              p   M, digest of what a request has of its spans
 *              k   project 0 7 digest of an answer's id   p   W, id of a verdict that waits for its call
 *   by_time    tk  project 0 r|n shard of the trace  ts  started at, call id 0 S|E
 *   by_trace   rk  project 0 trace id                ts  (the same; starts alone have an rk)
 *   by_thread  hk  project 0 t|n shard of the thread hs  thread id 0 started at, call id 0 S|E
 *   by_error   ek  project 0 shard of the trace      ts  (the same; failed calls alone have an ek)
 */

/** The first byte of a segment's id in a key. Call ids start with no control character. */
const segmentTag = 2;
/** The first byte of a call's id in the key of a note on a former payload. */
const formerTag = 3;

/** The first byte of a call's id in the key of a log record that may join it. */
const recordTag = 4;

/** The first byte of a place's id in the key of what coding agents said there. */
const placeTag = 5;
/** The first byte of a trace's id in the key of what requests have of its spans. */
const meetingTag = 6;
/** The first byte of the key of what waits for the call of an answer. */
const waitingTag = 7;

/** The table's partition key of a call. */
export const callKey = (projectId: ProjectId, id: string): Buffer => joinBytes(projectId, 0, compactId(id));

/** The table's key of a call's start. */
export const startKey = (projectId: ProjectId, id: string): TableKey<'calls'> => ({
  k: callKey(projectId, id),
  p: 'S' satisfies CallPart,
});

/** The table's key of an end that was reported by itself. */
export const endKey = (projectId: ProjectId, id: string): TableKey<'calls'> => ({
  k: callKey(projectId, id),
  p: 'E' satisfies CallPart,
});

/** The call id in the table's partition key. */
export const readCallId = (projectId: ProjectId, key: Uint8Array): string =>
  fromCompactId(key.subarray(projectId.length + 1));

/** The table's partition key of a payload segment, named by hex digits. */
export const segmentKey = (projectId: ProjectId, segment: string): Buffer =>
  joinBytes(projectId, 0, segmentTag, Buffer.from(segment, 'hex'));

/** The table's key of a payload segment. */
export const segmentItemKey = (projectId: ProjectId, segment: string): TableKey<'calls'> => ({
  k: segmentKey(projectId, segment),
  p: 'P',
});

/** The table's key of the previews of the calls in a payload segment, which may be in the bucket. */
export const previewsItemKey = (projectId: ProjectId, segment: string): TableKey<'calls'> => ({
  k: segmentKey(projectId, segment),
  p: 'V',
});

/** The table's partition key of the notes on a call's former payloads. */
export const formerKey = (projectId: ProjectId, id: string): Buffer =>
  joinBytes(projectId, 0, formerTag, compactId(id));

/** The table's key of a note on a former payload. The pointer must have a segment. */
export const formerItemKey = (
  projectId: ProjectId,
  id: string,
  { segment, offset, length }: PayloadPointer,
): TableKey<'calls'> => ({ k: formerKey(projectId, id), p: `N ${segment} ${offset} ${length}` });

/** The table's partition key of the log records that may join a call. */
export const recordKey = (projectId: ProjectId, id: string): Buffer =>
  joinBytes(projectId, 0, recordTag, compactId(id));

/** The table's partition key of what coding agents said of one trace or session. */
export const placeKey = (projectId: ProjectId, place: string): Buffer =>
  joinBytes(projectId, 0, placeTag, compactId(place));

/** The table's partition key of what requests have of a trace's spans. */
export const meetingKey = (projectId: ProjectId, traceId: string): Buffer =>
  joinBytes(projectId, 0, meetingTag, compactId(traceId));

/** The table's partition key of what waits for the call that got an answer, by the provider's id of it. */
export const waitingKey = (projectId: ProjectId, responseId: string): Buffer =>
  joinBytes(projectId, 0, waitingTag, shortDigest(responseId));

/** The pointer in the sort key of a note on a former payload. */
export const parseFormerPointer = (p: string): PayloadPointer => {
  const [, segment = '', offset, length] = p.split(' ');
  return { segment, offset: Number(offset), length: Number(length) };
};

/** The segment name in the table's partition key. */
export const readSegmentId = (projectId: ProjectId, key: Uint8Array): string =>
  Buffer.from(key.buffer, key.byteOffset, key.byteLength)
    .subarray(projectId.length + 2)
    .toString('hex');

/** A call by its project and id. */
export interface CallName {
  readonly projectId: ProjectId;
  readonly id: string;
}

/** Tells a call from all others, as {@link qualifiedId} does. */
export const toCallKey = ({ projectId, id }: CallName): string => qualifiedId(projectId, id);

/** What the index keys of a call are made from: its name, and fields of its start. */
export interface IndexedCall
  extends CallName,
    Pick<StartHeader, 'startedAt' | 'traceId' | 'parentId' | 'threadId' | 'turnId'> {}

/** Whether the call is a turn, an immediate child of its thread: its id is its turn id. */
export const isTurn = (call: Pick<IndexedCall, 'id' | 'threadId' | 'turnId'>): boolean =>
  call.threadId !== null && call.turnId === call.id;

const timeSortKey = (call: IndexedCall, part: CallPart): Buffer =>
  joinBytes(signedTimeBytes(call.startedAt), sortableId(call.id), 0, part);

/** The calls that a partition of `by_time` holds: roots, which have no parent, or all others. */
export type Level = 'roots' | 'nested';

const timePartition = (projectId: ProjectId, level: Level, shard: number): Buffer =>
  joinBytes(projectId, 0, level === 'roots' ? 'r' : 'n', shard);

/** The attributes of a row's key in `by_time`. */
export const timeKeys = (
  call: IndexedCall,
  part: CallPart,
  shards: number,
): IndexKey<'calls', 'by_time'> => ({
  tk: timePartition(
    call.projectId,
    call.parentId === null ? 'roots' : 'nested',
    chooseShard(call.traceId, shards),
  ),
  ts: timeSortKey(call, part),
});

/** The attribute that, with `ts`, is a start's key in `by_trace`. */
export const traceKeys = (call: IndexedCall): Omit<IndexKey<'calls', 'by_trace'>, 'ts'> => ({
  rk: joinBytes(call.projectId, 0, compactId(call.traceId)),
});

const errorPartition = (projectId: ProjectId, shard: number): Buffer => joinBytes(projectId, 0, shard);

/** The attribute that, with `ts`, is a failed call's key in `by_error`. */
export const errorKeys = (call: IndexedCall, shards: number): Omit<IndexKey<'calls', 'by_error'>, 'ts'> => ({
  ek: errorPartition(call.projectId, chooseShard(call.traceId, shards)),
});

/**
 * What says that a call has failed whose start is not known yet. Its item has no `ts`, so it is in
 * no index.
 */
export const errorOfUnknownStart: Pick<IndexKey<'calls', 'by_error'>, 'ek'> = { ek: Buffer.of(0) };

const threadPartition = (projectId: ProjectId, turns: boolean, shard: number): Buffer =>
  joinBytes(projectId, 0, turns ? 't' : 'n', shard);

/** The attributes of a row's key in `by_thread`, for calls with a thread. */
export const threadKeys = (
  call: IndexedCall & { readonly threadId: string },
  part: CallPart,
  shards: number,
): IndexKey<'calls', 'by_thread'> => ({
  hk: threadPartition(call.projectId, isTurn(call), chooseShard(call.threadId, shards)),
  hs: joinBytes(sortableId(call.threadId), 0, timeSortKey(call, part)),
});

/** The sort keys of an index row: one of them, by its index. */
type SortKeys = Readonly<Partial<Record<Extract<KeyName<'calls'>, 'ts' | 'hs'>, Uint8Array | undefined>>>;

/** The time-ordered end of an index row's sort key, without the thread's id. */
export const getSortKey = (item: SortKeys): Uint8Array => {
  if (item.hs) return item.hs.subarray(item.hs.indexOf(0) + 1);
  return item.ts ?? new Uint8Array();
};

/** The part that an index row is of, by the last byte of its sort key. */
export const partOfRow = (sortKey: Uint8Array): CallPart => (sortKey.at(-1) === endByte ? 'E' : 'S');

const endByte = 'E'.charCodeAt(0);

const lowest = Buffer.alloc(0);
const highest = Buffer.of(0xff);

/** Inclusive bounds on `started_at`; absent if unbounded. */
export interface TimeBounds {
  readonly from?: Micros;
  readonly to?: Micros;
}

const sortBounds = (prefix: Buffer, bounds: TimeBounds): [Buffer, Buffer] => [
  joinBytes(prefix, bounds.from === undefined ? lowest : signedTimeBytes(bounds.from), 0),
  joinBytes(prefix, bounds.to === undefined ? lowest : signedTimeBytes(bounds.to), highest),
];

/** Every root, or every nested call, in one shard of a project within bounds of time. */
export const timeRange = (
  projectId: ProjectId,
  level: Level,
  shard: number,
  bounds: TimeBounds,
): IndexRange<'calls', 'by_time'> => ({
  index: 'by_time',
  partition: ['tk', timePartition(projectId, level, shard)],
  sort: ['ts', ...sortBounds(lowest, bounds)],
});

/** Every failed call in one shard of a project within bounds of time. */
export const errorRange = (
  projectId: ProjectId,
  shard: number,
  bounds: TimeBounds,
): IndexRange<'calls', 'by_error'> => ({
  index: 'by_error',
  partition: ['ek', errorPartition(projectId, shard)],
  sort: ['ts', ...sortBounds(lowest, bounds)],
});

/** Every call of one trace within bounds of time. */
export const traceRange = (
  projectId: ProjectId,
  traceId: string,
  bounds: TimeBounds,
): IndexRange<'calls', 'by_trace'> => ({
  index: 'by_trace',
  partition: ['rk', joinBytes(projectId, 0, compactId(traceId))],
  sort: ['ts', ...sortBounds(lowest, bounds)],
});

/** Every turn, or every nested call, of one thread in one shard within bounds of time. */
export const threadRange = (
  projectId: ProjectId,
  threadId: string,
  turns: boolean,
  shard: number,
  bounds: TimeBounds,
): IndexRange<'calls', 'by_thread'> => ({
  index: 'by_thread',
  partition: ['hk', threadPartition(projectId, turns, shard)],
  sort: ['hs', ...sortBounds(joinBytes(sortableId(threadId), 0), bounds)],
});

/** The turns of every thread in one shard of a project, grouped by thread. */
export const turnsRange = (projectId: ProjectId, shard: number): IndexRange<'calls', 'by_thread'> => ({
  index: 'by_thread',
  partition: ['hk', threadPartition(projectId, true, shard)],
});

/*
 * Items: keys, a header, and perhaps a small payload.
 */

/** Whether a call with this end has failed. */
export const isFailed = (end: EndHeader | null): boolean => end?.status === 'error';

/** Whether an item is in the list of errors, or will be once its start is known. */
export const isInErrors = ({ ek }: Item): boolean => ek !== undefined;

const indexKeys = (store: Store, call: IndexedCall, part: CallPart, failed: boolean): Item => {
  const shards = shardCount(store);
  const { threadId } = call;
  // Ends of nested calls are not in by_thread: thread statistics are computed from turns alone.
  const inThread = threadId !== null && (part === 'S' || isTurn(call));
  return {
    ...timeKeys(call, part, shards),
    ...(part === 'S' && traceKeys(call)),
    ...(inThread && threadKeys({ ...call, threadId }, part, shards)),
    ...(failed && errorKeys(call, shards)),
  };
};

/**
 * Makes the item of a call's start, with the end if both were reported together, or of its end by
 * itself.
 *
 * @param indexed the start that the index keys are made from; null for an end whose start is
 * unknown, which is found by id only
 * @param failed whether the call has failed. @default - if its end says so
 */
export const toItem = (
  store: Store,
  { projectId, id, part }: CallName & { readonly part: CallPart },
  header: HeaderContent,
  indexed: StartHeader | null,
  failed = isFailed(header.end),
): Item => ({
  k: callKey(projectId, id),
  p: part,
  h: packHeader(header, { projectId, id }),
  ...(indexed && indexKeys(store, { projectId, id, ...indexed }, part, failed)),
  ...expiry(store, projectId),
});

/**
 * The largest packed payload that a request puts into the items of headers, and that lists show in
 * their rows, in bytes. A header leaves about as much of its write unit.
 */
export const maxInlineBytes = 512;

/** The packed payload in a call's own item, as it is put there or was read. */
export const getInlinePayload = ({ b, c }: Item): Uint8Array | undefined => asBytes(c) ?? asBytes(b);

/**
 * Puts a packed payload into an item: where the rows of lists have it too if lists show the call
 * and it is small.
 *
 * @param isListed whether the call is a root or has failed
 */
export const withInline = (item: Item, inline: Uint8Array | undefined, isListed: boolean): Item => {
  if (!inline && !getInlinePayload(item)) return item;
  const { b: _b, c: _c, ...rest } = item;
  if (!inline) return rest;
  return isListed && inline.length <= maxInlineBytes ? { ...rest, c: inline } : { ...rest, b: inline };
};

/**
 * What lies under the key of a call's start. Without a start it keeps the place of one that is not
 * known yet. It then has traces that are reserved for it, or the key of the list of errors.
 */
export interface StartEntry extends HeaderContent, CallName {
  readonly item: Item;
}

/** A start with its item, read from the table or about to be put there. */
export interface StartItem extends StartEntry {
  readonly start: StartHeader;
  /** The end in the same item. */
  readonly end: EndHeader | null;
}

/** A stored start or end, read from the table or an index. */
export interface StoredPart extends HeaderContent {
  readonly id: string;
  readonly part: CallPart;
  /** The packed payload, if it is inline and the item or row shows it. */
  readonly inline: Uint8Array | undefined;
}

/**
 * Reads an item or an index row of a start or an end.
 *
 * @throws Error if it has no header
 */
export const fromItem = (projectId: ProjectId, item: Item): StoredPart => {
  const key = asBytes(item.k);
  const header = asBytes(item.h);
  if (!key || !header) throw new Error('an item of the calls table has no header');
  const id = readCallId(projectId, key);
  const timeKey = getSortKey({ ts: asBytes(item.ts), hs: asBytes(item.hs) });
  const { start, end, earlyTraces } = unpackHeader(header, { projectId, id }, timeKey);
  return {
    start,
    end,
    ...(earlyTraces && { earlyTraces }),
    id,
    part: item.p === undefined ? partOfRow(timeKey) : item.p === 'E' ? 'E' : 'S',
    inline: getInlinePayload(item),
  };
};

/** An item's partition key as text, for lookups. */
export const keyText = (item: Item): string => Buffer.from(asBytes(item.k) ?? []).toString('latin1');

/**
 * Reads what lies under the keys of starts, strongly consistent, in any order: starts, and what is
 * reserved for them. Calls with neither are left out.
 *
 * @param calls without duplicates
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readStartEntries = async (
  store: Store,
  calls: readonly CallName[],
  budget: RequestBudget,
): Promise<StartEntry[]> => {
  const byKey = new Map(calls.map((call) => [keyText(startKey(call.projectId, call.id)), call]));
  const keys = calls.map(({ projectId, id }) => startKey(projectId, id));
  const items = await getItems(store.table, keys, budget, { consistent: true });
  return items.flatMap((item) => {
    const call = byKey.get(keyText(item));
    if (!call) return [];
    const { projectId, id } = call;
    const { start, end, earlyTraces } = fromItem(projectId, item);
    return [{ item, projectId, id, start, end, earlyTraces }];
  });
};

/** Whether there is a start, and not only a reservation for one. */
export const hasStart = (entry: StartEntry): entry is StartItem => entry.start !== null;

/** Reads starts as {@link readStartEntries} does. Calls without a start are left out. */
export const readStarts = async (
  store: Store,
  calls: readonly CallName[],
  budget: RequestBudget,
): Promise<StartItem[]> => (await readStartEntries(store, calls, budget)).filter(hasStart);

/**
 * The attribute of the item under the key of a start that others waited for: they came before it, and
 * their thread, turn and user depend on it.
 */
export const awaitedFlag = { w: true } as const satisfies Item;

/** Whether others waited for a call's start. */
export const isAwaited = ({ w }: Item): boolean => w === true;

/**
 * The condition that a stored item has the header, time, inline payload and key of the list of
 * errors that were read, and is as awaited. The time of a start is in its sort key alone.
 */
export const unchanged = ({ h, ts, b, c, ek, w }: Item): Condition => ({ h, ts, b, c, ek, w });

/**
 * A start's item with another header of the same payload, which gives it another thread, turn or user.
 */
export const withPlace = (
  store: Store,
  { item, projectId, id, end, earlyTraces }: StartItem,
  start: StartHeader,
): Item => {
  const { hk: _hk, hs: _hs, ...rest } = item;
  const { threadId } = start;
  const h = packHeader({ start, end, earlyTraces }, { projectId, id });
  const keys =
    threadId === null ? {} : threadKeys({ ...start, projectId, id, threadId }, 'S', shardCount(store));
  return { ...rest, h, ...keys };
};
