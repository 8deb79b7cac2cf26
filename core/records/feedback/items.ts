import { fromUnsignedTimeBytes, unpack } from '../../foundations/encoding/index.ts';
import type { KeyName } from '../../foundations/storage/declared-keys.ts';
import {
  asBytes,
  asText,
  type Condition,
  expiry,
  expiryIn,
  type Item,
  type Store,
  shardCount,
} from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { fromHead } from './head.ts';
import { indexKeys, positionBytes, positionFrom, recordIdOf, recordKey } from './keys.ts';
import type { Entry, FeedbackHeader, Position } from './model.ts';

/*
 * The attributes of an item, beside those that keys.ts makes. Index rows have h, f and r.
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

/** Makes the item of a record, all but its head and payload. */
export const frameItem = (store: Store, { header, digest, origin, leftover }: Frame): Item => ({
  ...recordKey(header.projectId, header.id),
  ...indexKeys(header, shardCount(store)),
  d: digest,
  ...(origin && { f: positionBytes(origin) }),
  ...(leftover !== undefined && { g: leftover }),
  ...expiry(store),
});

/** A tombstone outlasts every answer that is under way, and every index that lags. */
const tombstoneDays = 1;

/**
 * Makes what stays of a record that was replaced. Its rows in the indexes stay, where they lead to
 * the record that came in its place; of its payload nothing.
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
 * Makes what stays of a record that was purged until its object in the bucket is gone: nothing that
 * a reader takes for a record.
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

/** The attributes of an item that say all but the payload. */
export const attributesButPayload = [...keyNames, 'h', 'o', 'd', 'f', 'r', 'g'];

/** That an item still is what it was when it was read; undefined for one that was not there. */
export const unchanged = (item: Item | undefined): Condition => ({ t: item?.t, d: item?.d, r: item?.r });

/**
 * Objects in the bucket that may be left of what an item was before, and serve nothing any more.
 */
export const leftoversOf = (item: Item | undefined): string[] => {
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
export const toEntry = async (
  { names }: Pick<Store, 'names'>,
  projectId: ProjectId,
  item: Item,
): Promise<Entry | undefined> => {
  const [k, t, f, r, h] = [item.k, item.t, item.f, item.r, item.h].map(asBytes);
  if (!k || !t) return undefined;
  const position = { id: recordIdOf(projectId, k), createdAt: fromUnsignedTimeBytes(t) };
  const origin = f ? positionFrom(f) : null;
  if (r) return { kind: 'tombstone', position, replacedBy: positionFrom(r), origin };
  if (!h) return undefined;
  const bytes = h[0] === packedMark ? await unpack(h) : h;
  const { payload, payloadBytes, ...head } = fromHead(names, projectId, bytes);
  return { kind: 'record', header: { projectId, ...position, ...head }, payload, payloadBytes, origin };
};
