import { pack, unpack } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  compareAndSwap,
  deleteItem,
  deleteReadObject,
  getItems,
  mapConcurrent,
  type RequestBudget,
  readObject,
  replaceItem,
  replaceObject,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { segmentItemKey } from '../codec/keys.ts';
import type { PayloadPointer } from '../model.ts';
import { blockOf, segmentLocation, segmentObject } from './segments.ts';

/*
 * Calls of one request share a segment. Deleting a call overwrites its blocks there with zero bytes
 * in place, so that the pointers to other blocks stay valid. Zeros compress to almost nothing. A
 * segment with no other blocks is deleted.
 */

/** Fills a deleted block. JSON text escapes this byte, so no other block contains it. */
const blank = 0;

/** The number of segments rewritten concurrently. Each is unpacked in memory. */
const concurrency = 8;

/** Whether a block was deleted. */
export const isBlank = (block: Uint8Array): boolean => block[0] === blank;

/**
 * Overwrites blocks of an unpacked segment.
 *
 * @returns `untouched` if they were blank before; `empty` if the segment has no other content;
 * otherwise `blanked`
 * @throws Error if the segment is too short for a block
 */
export const blankBlocks = (
  unpacked: Uint8Array,
  pointers: readonly PayloadPointer[],
): 'untouched' | 'blanked' | 'empty' => {
  const blocks = pointers.map((pointer) => blockOf(unpacked, pointer)).filter((block) => !isBlank(block));
  if (blocks.length === 0) return 'untouched';
  for (const block of blocks) block.fill(blank);
  return unpacked.every((byte) => byte === blank) ? 'empty' : 'blanked';
};

/** A segment as it was read. Its operations return false if it has changed since. */
interface StoredSegment {
  readonly packed: Uint8Array;
  replace(packed: Uint8Array): Promise<boolean>;
  remove(): Promise<boolean>;
}

const readItem = async (
  { table }: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<StoredSegment | undefined> => {
  const key = segmentItemKey(projectId, id);
  const [item] = await getItems(table, [key], budget, { consistent: true });
  const packed = asBytes(item?.b);
  if (!item || !packed) return undefined;
  // The expiry is part of the condition: a report of the same content extends it, and its headers
  // rely on that.
  const { b, x } = item;
  return {
    packed,
    replace: (changed) => replaceItem(table, { ...item, b: changed }, { b, x }, budget),
    remove: () => deleteItem(table, key, { b, x }, budget),
  };
};

const readFromBucket = async (
  { bucket }: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<StoredSegment | undefined> => {
  const key = segmentObject(projectId, id);
  const object = await readObject(bucket, key, budget);
  return (
    object && {
      packed: object.body,
      replace: (packed) => replaceObject(bucket, key, packed, object.etag, budget),
      remove: () => deleteReadObject(bucket, key, object.etag, budget),
    }
  );
};

/**
 * Blanks blocks of one segment.
 *
 * @returns whether any of them was not blank before
 */
const blankSegment = (
  store: Store,
  projectId: ProjectId,
  id: string,
  pointers: readonly PayloadPointer[],
  budget: RequestBudget,
): Promise<boolean> => {
  const read = segmentLocation(id) === 'table' ? readItem : readFromBucket;
  return compareAndSwap(budget, async (round) => {
    // An earlier write may have succeeded although its answer was lost.
    const nothingLeft = { value: round > 0 };
    const stored = await read(store, projectId, id, budget);
    if (!stored) return nothingLeft;
    const bytes = await unpack(stored.packed);
    const state = blankBlocks(bytes, pointers);
    if (state === 'untouched') return nothingLeft;
    const held = state === 'empty' ? await stored.remove() : await stored.replace(await pack(bytes));
    return held ? { value: true } : undefined;
  });
};

/**
 * Blanks payload blocks in the segments of one project, each segment in one write. If others write
 * to a segment meanwhile, it is read again, so their changes are retained.
 *
 * @returns the names of the segments in which some block was not blank before
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const blankPayloads = async (
  store: Store,
  projectId: ProjectId,
  pointers: readonly PayloadPointer[],
  budget: RequestBudget,
): Promise<ReadonlySet<string>> => {
  const bySegment = Map.groupBy(pointers, ({ segment }) => segment);
  const changed = await mapConcurrent([...bySegment], concurrency, async ([id, segmentPointers]) => {
    if (id === null) return [];
    return (await blankSegment(store, projectId, id, segmentPointers, budget)) ? [id] : [];
  });
  return new Set(changed.flat());
};
