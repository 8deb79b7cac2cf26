import { randomBytes } from 'node:crypto';
import {
  chooseShard,
  compactId,
  fromCompactId,
  fromUnsignedTimeBytes,
  joinBytes,
  maxUnsignedTime,
  pack,
  shortDigest,
  unpack,
  unsignedTimeBytes,
  unsignedTimeLength,
} from '../../../foundations/encoding/index.ts';
import type { Bounds } from '../../../foundations/expression/index.ts';
import { bySize } from '../../../foundations/listing/index.ts';
import {
  asBytes,
  asText,
  type Condition,
  deleteObject,
  expiry,
  expiryIn,
  getBucketDays,
  getItems,
  getObject,
  type Item,
  itemBytes,
  mapConcurrent,
  putObject,
  type RequestBudget,
  type Store,
  shardCount,
  writeUnitBytes,
} from '../../../foundations/storage/index.ts';
import type { IndexKey, IndexRange, KeyName, TableKey } from '../../../foundations/storage/tables.ts';
import { type Micros, type ProjectId, refScheme, utf8Length } from '../../../foundations/wire/index.ts';
import { type Entry, type FeedbackHeader, type FeedbackRecord, getPosition, type Position } from './model.ts';

/*
 * The keys of the feedback table and of payloads in the bucket. Keys are bytes. A zero byte
 * separates their parts, because no project or id has one.
 *
 *   table    k   project 0 id
 *   by_time  tk  project 0 shard of the id                     t  created at
 *   by_ref   rk  project 0 digest of the ref                   t
 *   by_type  yk  project 0 shard of the id, digest of the type t
 *
 * Records of the same microsecond have the same key in an index. Readers sort them by their ids.
 */

export const recordKey = (projectId: ProjectId, id: string): TableKey<'feedback'> => ({
  k: joinBytes(projectId, 0, compactId(id)),
});

/** Reads the record's id from its key in the table. */
export const readRecordId = (projectId: ProjectId, key: Uint8Array): string =>
  fromCompactId(key.subarray(projectId.length + 1));

export const positionBytes = ({ createdAt, id }: Position): Buffer =>
  joinBytes(unsignedTimeBytes(createdAt), id);

export const positionFrom = (bytes: Uint8Array): Position => ({
  createdAt: fromUnsignedTimeBytes(bytes),
  id: Buffer.from(bytes.subarray(unsignedTimeLength)).toString('utf8'),
});

const timePartition = (projectId: ProjectId, shard: number): Buffer => joinBytes(projectId, 0, shard);
const refPartition = (projectId: ProjectId, ref: string): Buffer => joinBytes(projectId, 0, shortDigest(ref));
const typePartition = (projectId: ProjectId, shard: number, type: string): Buffer =>
  joinBytes(projectId, 0, shard, shortDigest(type));

type IndexKeys = IndexKey<'feedback', 'by_time'> &
  IndexKey<'feedback', 'by_ref'> &
  IndexKey<'feedback', 'by_type'>;

/** The keys of a record in all indexes. */
export const indexKeys = (
  {
    projectId,
    id,
    createdAt,
    ref,
    type,
  }: Pick<FeedbackHeader, 'projectId' | 'id' | 'createdAt' | 'ref' | 'type'>,
  shards: number,
): IndexKeys => {
  const shard = chooseShard(id, shards);
  return {
    t: unsignedTimeBytes(createdAt),
    tk: timePartition(projectId, shard),
    rk: refPartition(projectId, ref),
    yk: typePartition(projectId, shard, type),
  };
};

const createdWithin = ({ from, to }: Bounds) =>
  ['t', unsignedTimeBytes(from ?? 0), unsignedTimeBytes(to ?? maxUnsignedTime)] as const;

/** When the record of an index row was created. */
export const timeOfFeedbackRow = ({ t }: Item): Micros =>
  fromUnsignedTimeBytes(asBytes(t) ?? unsignedTimeBytes(0));

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

/** The records of one type in one shard of a project, created within bounds; as {@link refRange}. */
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
  bucketDays: number | undefined,
): string => {
  const home = bucketDays === undefined ? 'kept' : `expiring-${bucketDays}`;
  return `feedback/${home}/${projectId}/${shortDigest(id).toString('hex')}-${nonce}.zst`;
};

/*
 * A record's head: what index rows hold of it beside their keys. It is a JSON list, followed by the
 * payload, on a line of its own, if that is stored with it. Nearly all refs lead into the record's
 * own project; of these it has what comes after the project.
 */

export interface Head extends Omit<FeedbackHeader, 'projectId' | 'id' | 'createdAt'> {
  /** JSON text; null if it is stored apart. */
  readonly payload: string | null;
  readonly payloadBytes: number;
}

type Fields = [
  ref: string,
  type: string,
  creator: string | null,
  annotationRef: string | null,
  runnableRef: string | null,
  callRef: string | null,
  triggerRef: string | null,
  userId: string,
  payloadBytes: number,
];

/** A ref with its scheme. A call may have an id that looks like one, after `call/`. */
const isWhole = /^\w+:\/\/\//;

const ownPrefix = (projectId: ProjectId): string => `${refScheme}${projectId}/`;

/** @param payload JSON text; null if it is stored apart */
export const toHead = (header: FeedbackHeader, payloadBytes: number, payload: string | null): Buffer => {
  const prefix = ownPrefix(header.projectId);
  const short = <T extends string | null>(ref: T) =>
    ref?.startsWith(prefix) ? ref.slice(prefix.length) : ref;
  const fields: Fields = [
    short(header.ref) ?? '',
    header.type,
    header.creator,
    short(header.annotationRef),
    short(header.runnableRef),
    short(header.callRef),
    short(header.triggerRef),
    header.userId,
    payloadBytes,
  ];
  return Buffer.from(JSON.stringify(fields) + (payload === null ? '' : `\n${payload}`), 'utf8');
};

/** @throws Error if it is none */
export const fromHead = (projectId: ProjectId, bytes: Uint8Array): Head => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  // JSON without white space has no line break.
  const end = text.indexOf('\n');
  const fields = JSON.parse(end < 0 ? text : text.slice(0, end)) as Fields;
  const prefix = ownPrefix(projectId);
  const whole = (ref: string | null) => (ref === null || isWhole.test(ref) ? ref : prefix + ref);
  const [ref, type, creator, annotationRef, runnableRef, callRef, triggerRef, userId, payloadBytes] = fields;
  return {
    ref: whole(ref) ?? '',
    type,
    creator,
    annotationRef: whole(annotationRef),
    runnableRef: whole(runnableRef),
    callRef: whole(callRef),
    triggerRef: whole(triggerRef),
    userId,
    payload: end < 0 ? null : text.slice(end + 1),
    payloadBytes,
  };
};

/*
 * The attributes of an item beside its keys. Index rows have h, f and r.
 *
 *   h  head, with the payload where that is small; perhaps packed
 *   b  the packed payload, where it is not small
 *   o  its object in the bucket, where it is too big for an item
 *   d  digest of the content
 *   x  when it expires
 *   f  the position of the first revision of its chain
 *   r  the position of the next revision: the item is a tombstone
 *   g  an object in the bucket that may be left of what this item was before
 *
 * An item with neither h nor r is nothing to readers: its record has been purged, and its object is
 * about to be.
 */

/** The attributes of the table's key and of the indexes' keys. */
const keyNames = ['k', 't', 'tk', 'rk', 'yk'] as const satisfies readonly KeyName<'feedback'>[];

/** What is written of a record beside its head and payload. */
export interface Frame {
  readonly header: FeedbackHeader;
  /** Sixteen bytes that equal content has in common. */
  readonly digest: Uint8Array;
  readonly origin: Position | null;
  /** An object in the bucket that was of the record which stood under this id before. */
  readonly leftover?: string | undefined;
}

/** The item of a record, all but its head and payload. */
export const frameItem = (store: Store, { header, digest, origin, leftover }: Frame): Item => ({
  ...recordKey(header.projectId, header.id),
  ...indexKeys(header, shardCount(store)),
  d: digest,
  ...(origin && { f: positionBytes(origin) }),
  ...(leftover !== undefined && { g: leftover }),
  ...expiry(store, header.projectId),
});

/** A tombstone outlasts every answer that is under way, and every index that lags. */
const tombstoneDays = 1;

/**
 * What stays of a record that was replaced. Its rows in the indexes stay and lead to the record that
 * came in its place. Nothing stays of its payload.
 *
 * @param item the record's, whole but for its payload
 */
export const tombstoneItem = (item: Item, replacedBy: Position): Item => ({
  ...pickAttributes(item, [...keyNames, 'f']),
  r: positionBytes(replacedBy),
  ...leftover(item),
  ...expiryIn(tombstoneDays),
});

/**
 * What stays of a record that was purged until its object in the bucket is gone: nothing that a
 * reader takes for a record.
 *
 * @param keepsRows whether its rows in the indexes stay, for those who will look for it there
 */
export const purgedItem = (item: Item, keepsRows = false): Item => ({
  ...pickAttributes(item, keepsRows ? keyNames : ['k']),
  ...leftover(item),
  ...expiryIn(tombstoneDays),
});

const leftover = ({ o, g }: Item): Item => {
  const object = o ?? g;
  return object ? { g: object } : {};
};

const pickAttributes = (item: Item, names: readonly string[]): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));

/** All attributes but the payload. */
export const attributesButPayload = [...keyNames, 'h', 'o', 'd', 'f', 'r', 'g'];

/** That an item still is what it was when it was read; undefined for one that was not there. */
export const unchanged = (item: Item | undefined): Condition => ({ t: item?.t, d: item?.d, r: item?.r });

/** Objects in the bucket that may be left of what an item was before, and that nobody needs. */
export const getLeftovers = (item: Item | undefined): string[] => {
  const object = asText(item?.g);
  return object === undefined ? [] : [object];
};

/** What every frame of zstd begins with; a head begins with a bracket. */
const packedMark = 0x28;

/**
 * Reads an item or an index row. A payload that lies apart is not read.
 *
 * @returns undefined where there is nothing for a reader
 */
export const toEntry = async (projectId: ProjectId, item: Item): Promise<Entry | undefined> => {
  const [k, t, f, r, h] = [item.k, item.t, item.f, item.r, item.h].map(asBytes);
  if (!k || !t) return undefined;
  const position = { id: readRecordId(projectId, k), createdAt: fromUnsignedTimeBytes(t) };
  const origin = f ? positionFrom(f) : null;
  if (r) return { kind: 'tombstone', position, replacedBy: positionFrom(r), origin };
  if (!h) return undefined;
  const bytes = h[0] === packedMark ? unpack(h) : h;
  const { payload, payloadBytes, ...head } = fromHead(projectId, bytes);
  return { kind: 'record', header: { projectId, ...position, ...head }, payload, payloadBytes, origin };
};

/** More than this cannot be packed into one write unit. */
const maxToPackWhole = 16 * 1024;
/** An item is at most 400 KB, with its head and keys. */
const maxInItem = 300 * 1024;

/** A record's item, ready to be written, and the object in the bucket that was stored for it. */
export interface PreparedItem {
  readonly item: Item;
  readonly object: string | undefined;
}

/**
 * Makes the item of a record. A small payload goes into the head, packed if need be: the whole is
 * then one write unit, and index rows are whole. A larger payload goes beside the head, which keeps
 * index rows small. One that is too big for an item is put into the bucket.
 *
 * @param payload JSON text
 */
export const prepareItem = async (
  store: Store,
  frame: Frame,
  payload: string,
  budget: RequestBudget,
): Promise<PreparedItem> => {
  const base = frameItem(store, frame);
  const bytes = utf8Length(payload);
  const withHead = (h: Uint8Array): Item => ({ ...base, h });
  const head = toHead(frame.header, bytes, payload);
  const whole = withHead(head);
  if (itemBytes(whole) <= writeUnitBytes) return { item: whole, object: undefined };
  if (bytes <= maxToPackWhole) {
    const packed = withHead(await pack(head));
    if (itemBytes(packed) <= writeUnitBytes) return { item: packed, object: undefined };
  }
  const item = withHead(toHead(frame.header, bytes, null));
  const packed = await pack(Buffer.from(payload, 'utf8'));
  if (packed.length <= maxInItem) return { item: { ...item, b: packed }, object: undefined };
  const object = payloadObject(
    frame.header,
    randomBytes(8).toString('hex'),
    getBucketDays(store, frame.header.projectId),
  );
  await putObject(store.bucket, object, packed, budget);
  return { item: { ...item, o: object }, object };
};

/** Items with their payloads are read so many at once. */
const payloadsAtOnce = 8;
/** Payloads are read in batches of so many bytes, or one record. */
const batchBytes = 4 * 1024 * 1024;
const batchItems = 100;

/** What an entry counts towards a batch, in bytes, if its payload is read. */
const batchShare = (entry: Entry): number =>
  entry.kind === 'record' ? Math.max(entry.payloadBytes, batchBytes / batchItems) : 0;

const lacksPayload = (entry: Entry): entry is FeedbackRecord =>
  entry.kind === 'record' && entry.payload === null;

/**
 * Reads the payload of an item that has just been read, if it is stored apart.
 *
 * @returns undefined if there is nothing for a reader; what the item has become by now if its
 * object is gone
 * @throws Error if a payload is missing or damaged
 */
const toWholeEntry = async (
  store: Store,
  projectId: ProjectId,
  item: Item,
  budget: RequestBudget,
): Promise<Entry | undefined> => {
  const entry = await toEntry(projectId, item);
  if (!entry || !lacksPayload(entry)) return entry;
  const object = asText(item.o);
  const packed = object === undefined ? asBytes(item.b) : await getObject(store.bucket, object, budget);
  if (packed) return { ...entry, payload: unpack(packed).toString('utf8') };
  const [again] = await getItems(store.table, [recordKey(projectId, entry.header.id)], budget, {
    consistent: true,
  });
  if (!again) return undefined;
  if (again.o !== item.o || again.r) return toWholeEntry(store, projectId, again, budget);
  throw new Error(`the payload of feedback ${entry.header.id} is missing`);
};

/**
 * Reads records with their payloads by their ids, strongly consistent and in no particular order.
 * An id of nothing gives nothing.
 *
 * @param ids each once, of no more payloads than may be held at once
 */
export const readWhole = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<Entry[]> => {
  const keys = ids.map((id) => recordKey(projectId, id));
  const items = await getItems(store.table, keys, budget, { consistent: true });
  const entries = await mapConcurrent(items, payloadsAtOnce, (item) =>
    toWholeEntry(store, projectId, item, budget),
  );
  return entries.filter((entry) => entry !== undefined);
};

/**
 * Reads the payloads that index rows do not hold. A record that was replaced or purged since its
 * row was read comes as what is there now, or not at all.
 *
 * @param isWanted which records' payloads must be read
 */
export async function* withPayloads(
  store: Store,
  projectId: ProjectId,
  isWanted: (record: FeedbackRecord) => boolean,
  batches: AsyncIterable<readonly Entry[]>,
  budget: RequestBudget,
): AsyncGenerator<readonly Entry[]> {
  for await (const batch of batches) {
    const toHydrate = new Set<Entry>(batch.filter((entry) => lacksPayload(entry) && isWanted(entry)));
    const getSize = (entry: Entry) => (toHydrate.has(entry) ? batchShare(entry) : 0);
    for (const some of toHydrate.size === 0 ? [batch] : bySize(batch, batchBytes, getSize)) {
      const ids = some.flatMap((entry) => (toHydrate.has(entry) ? [getPosition(entry).id] : []));
      const whole = ids.length > 0 ? await readWhole(store, projectId, [...new Set(ids)], budget) : [];
      const now = new Map(whole.map((entry) => [getPosition(entry).id, entry]));
      yield some.flatMap((entry) => {
        if (!toHydrate.has(entry)) return [entry];
        const { id, createdAt } = getPosition(entry);
        const found = now.get(id);
        return found && getPosition(found).createdAt === createdAt ? [found] : [];
      });
    }
  }
}

/**
 * The record of an item that a stream shows. Its payload is null if it lies in the bucket.
 *
 * @returns undefined if the item is no record: a tombstone, or what is left of a purge
 */
export const toFeedback = async (projectId: ProjectId, item: Item): Promise<FeedbackRecord | undefined> => {
  const entry = await toEntry(projectId, item);
  if (entry?.kind !== 'record') return undefined;
  const packed = asBytes(item.b);
  if (entry.payload !== null || !packed) return entry;
  return { ...entry, payload: unpack(packed).toString('utf8') };
};

/** An item of the table as a writer sees it. */
export interface Stored {
  /** Without a payload that is beside the head. */
  readonly item: Item;
  /** Undefined if there is nothing for a reader. */
  readonly entry: Entry | undefined;
}

/**
 * Reads items by their ids, strongly consistent and without payloads.
 *
 * @param ids each once
 * @returns what is there, by id
 */
export const readStored = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<Map<string, Stored>> => {
  const keys = ids.map((id) => recordKey(projectId, id));
  const items = await getItems(store.table, keys, budget, {
    consistent: true,
    attributes: attributesButPayload,
  });
  const found = await mapConcurrent(items, items.length || 1, async (item): Promise<[string, Stored]> => {
    const entry = await toEntry(projectId, item);
    return [readRecordId(projectId, asBytes(item.k) ?? new Uint8Array()), { item, entry }];
  });
  return new Map(found);
};

/** Which of these ids have records, strongly consistent. */
export const existingFeedback = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<ReadonlySet<string>> => {
  const stored = await readStored(store, projectId, [...new Set(ids)], budget);
  return new Set([...stored].flatMap(([id, one]) => (isRecord(one) ? [id] : [])));
};

const deletesAtOnce = 16;

/** Deletes objects in the bucket that are not needed any more. */
export const deleteObjects = async (
  store: Store,
  objects: readonly string[],
  budget: RequestBudget,
): Promise<void> => {
  await mapConcurrent(objects, deletesAtOnce, (object) => deleteObject(store.bucket, object, budget));
};

export type StoredRecord = Stored & { readonly entry: FeedbackRecord };

/** Whether there is a record: neither nothing nor a tombstone. */
export const isRecord = (stored: Stored | undefined): stored is StoredRecord =>
  stored?.entry?.kind === 'record';

/** Whether a stored record has the content of another. */
export const hasContent = ({ item }: StoredRecord, { digest }: Pick<Frame, 'digest'>): boolean => {
  const own = asBytes(item.d);
  return own !== undefined && Buffer.compare(own, digest) === 0;
};
