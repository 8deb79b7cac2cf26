import { randomBytes } from 'node:crypto';
import { pack, unpack } from '../../foundations/encoding/index.ts';
import { bySize } from '../../foundations/listing/index.ts';
import {
  asBytes,
  asText,
  getItems,
  getObject,
  type Item,
  mapConcurrent,
  putObject,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import { type ProjectId, utf8Length } from '../../foundations/wire/index.ts';
import { toHead } from './head.ts';
import { type Frame, frameItem, toEntry } from './items.ts';
import { payloadObject, recordKey } from './keys.ts';
import { type Entry, type FeedbackRecord, positionOf } from './model.ts';

/**
 * An item of at most this many bytes takes one write unit in the table, and at most one in each
 * index.
 */
const unitBytes = 1024;
/** More than this cannot be packed into one write unit. */
const maxToPackWhole = 16 * 1024;
/** An item is at most 400 KB, with its head and keys. */
const maxInItem = 300 * 1024;

/**
 * The size of an item as DynamoDB counts it, in bytes. Numbers are counted as long as they can be.
 */
const sizeOf = (item: Item): number =>
  Object.entries(item).reduce(
    (sum, [name, value]) => sum + utf8Length(name) + (asBytes(value)?.length ?? textSize(asText(value))),
    0,
  );

const textSize = (text: string | undefined): number => (text === undefined ? 21 : utf8Length(text));

/** A record's item, ready to be written, and the object in the bucket that was stored for it. */
export interface PlacedItem {
  readonly item: Item;
  readonly object: string | undefined;
}

/**
 * Makes the item of a record. A small payload goes into the head, packed if need be: the whole is
 * then one write unit, and index rows are whole. A larger payload goes beside the head, which keeps
 * index rows small. One that is too big for an item is put into the bucket.
 *
 * @param payload JSON text
 * @throws ServiceError 503 when the bucket does not take it in time
 */
export const placePayload = async (
  store: Store,
  frame: Frame,
  payload: string,
  budget: RequestBudget,
): Promise<PlacedItem> => {
  const base = frameItem(store, frame);
  const bytes = utf8Length(payload);
  const withHead = (h: Uint8Array): Item => ({ ...base, h });
  const whole = withHead(toHead(store.names, frame.header, bytes, payload));
  if (sizeOf(whole) <= unitBytes) return { item: whole, object: undefined };
  if (bytes <= maxToPackWhole) {
    const packed = withHead(await pack(toHead(store.names, frame.header, bytes, payload)));
    if (sizeOf(packed) <= unitBytes) return { item: packed, object: undefined };
  }
  const item = withHead(toHead(store.names, frame.header, bytes, null));
  const packed = await pack(Buffer.from(payload, 'utf8'));
  if (packed.length <= maxInItem) return { item: { ...item, b: packed }, object: undefined };
  const object = payloadObject(frame.header, randomBytes(8).toString('hex'), store.retentionDays);
  await putObject(store.bucket, object, packed, budget);
  return { item: { ...item, o: object }, object };
};

/** Items with their payloads are read so many at once. */
const concurrency = 8;
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
 * @throws ServiceError 503 when storage does not give it in time; Error if a payload is missing or
 * damaged
 */
const toWholeEntry = async (
  store: Store,
  projectId: ProjectId,
  item: Item,
  budget: RequestBudget,
): Promise<Entry | undefined> => {
  const entry = await toEntry(store, projectId, item);
  if (!entry || !lacksPayload(entry)) return entry;
  const object = asText(item.o);
  const packed = object === undefined ? asBytes(item.b) : await getObject(store.bucket, object, budget);
  if (packed) return { ...entry, payload: (await unpack(packed)).toString('utf8') };
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
 * @throws ServiceError 503 when storage does not give them in time
 */
export const readWhole = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<Entry[]> => {
  const keys = ids.map((id) => recordKey(projectId, id));
  const items = await getItems(store.table, keys, budget, { consistent: true });
  const entries = await mapConcurrent(items, concurrency, (item) =>
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
    const wanted = new Set<Entry>(batch.filter((entry) => lacksPayload(entry) && isWanted(entry)));
    const sizeOf = (entry: Entry) => (wanted.has(entry) ? batchShare(entry) : 0);
    for (const some of wanted.size === 0 ? [batch] : bySize(batch, batchBytes, sizeOf)) {
      const ids = some.flatMap((entry) => (wanted.has(entry) ? [positionOf(entry).id] : []));
      const whole = ids.length > 0 ? await readWhole(store, projectId, [...new Set(ids)], budget) : [];
      const now = new Map(whole.map((entry) => [positionOf(entry).id, entry]));
      yield some.flatMap((entry) => {
        if (!wanted.has(entry)) return [entry];
        const { id, createdAt } = positionOf(entry);
        const found = now.get(id);
        return found && positionOf(found).createdAt === createdAt ? [found] : [];
      });
    }
  }
}
