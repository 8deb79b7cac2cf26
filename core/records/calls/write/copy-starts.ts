import { pack, unpack } from '../../../foundations/encoding/index.ts';
import {
  getItems,
  type Item,
  itemBytes,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import { inlineOf, maxListedBytes, type StartEntry, type StartItem } from '../codec/items.ts';
import { segmentItemKey } from '../codec/keys.ts';
import { isBlank } from '../payloads/blank.ts';
import { blockOf, segmentLocation } from '../payloads/segments.ts';
import { keyText } from './stored-starts.ts';

/*
 * A call that fails by an end of its own enters the list of errors then. Its start's payload lies
 * where the start's request put it: in a segment, which a list would have to read for this call
 * alone. So the item gets a copy of it, `s`, which that index projects and no other.
 */

/** A block is not packed by itself if it would have to shrink to less than this part. */
const bestRatio = 16;
/** An item or row of so many bytes takes one write unit. */
const unitBytes = 1024;

/** The segment of a start's payload, if a copy may be small and is cheap to get. */
const segmentOf = ({ start: { payload } }: StartItem): string | null => {
  const { segment, length } = payload;
  const isCheap = segment !== null && segmentLocation(segment) === 'table';
  return isCheap && length <= maxListedBytes * bestRatio ? segment : null;
};

/** Packs the block of a start's payload, if it is there and small enough for lists. */
const packed = async (
  unpacked: Uint8Array,
  { start: { payload } }: StartItem,
): Promise<Uint8Array | undefined> => {
  const block = blockOf(unpacked, payload);
  if (block.length === 0 || isBlank(block)) return undefined;
  const bytes = await pack(block);
  return bytes.length <= maxListedBytes ? bytes : undefined;
};

/** Reads segments by the keys of their items; those that are not found are left out. */
const readSegments = async (
  store: Store,
  keys: readonly Item[],
  budget: RequestBudget,
): Promise<ReadonlyMap<string, Uint8Array>> => {
  if (keys.length === 0) return new Map();
  const items = await getItems(store.table, keys, budget, { consistent: false });
  return new Map(items.flatMap((item) => (item.b instanceof Uint8Array ? [[keyText(item), item.b]] : [])));
};

/**
 * Makes packed copies of the payloads of starts, as far as lists do not show them and they are
 * small. Items that hold an end too are left out.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const copyStarts = async (
  store: Store,
  starts: readonly StartItem[],
  budget: RequestBudget,
): Promise<ReadonlyMap<StartEntry, Uint8Array>> => {
  const unshown = starts.filter(({ end, item }) => end === null && !item.c);
  const keyOf = (start: StartItem): Item | undefined => {
    const segment = segmentOf(start);
    return segment === null ? undefined : segmentItemKey(start.projectId, segment);
  };
  const keys = new Map(
    unshown.flatMap((start) => {
      const key = keyOf(start);
      return key ? [[keyText(key), key] as const] : [];
    }),
  );
  const segments = await readSegments(store, [...keys.values()], budget);
  const copies = new Map<StartEntry, Uint8Array>();
  for (const start of unshown) {
    const key = keyOf(start);
    const inline = start.start.payload.segment === null ? inlineOf(start.item) : undefined;
    const bytes = key ? segments.get(keyText(key)) : inline;
    const copy = bytes && (await packed(await unpack(bytes), start));
    if (copy) copies.set(start, copy);
  }
  return copies;
};

/** Puts a copy of its start's payload into an item, if that then still takes one write unit. */
export const withCopy = (item: Item, copy: Uint8Array | undefined): Item => {
  if (!copy) return item;
  const shown: Item = { ...item, s: copy };
  return itemBytes(shown) <= unitBytes ? shown : item;
};
