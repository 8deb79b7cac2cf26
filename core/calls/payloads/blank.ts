import { pack, unpack } from '../../encoding/index.ts';
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
} from '../../storage/index.ts';
import type { ProjectId } from '../../wire/index.ts';
import { segmentItemKey } from '../codec/keys.ts';
import type { PayloadPointer } from '../model.ts';
import { blockOf, segmentLocation, segmentObject } from './segments.ts';

/*
 * Calls that came in one request share a segment. A call that is deleted has its blocks there
 * overwritten with zero bytes, in place, so that the blocks of its neighbours stay where their
 * headers say; zeros compress to nothing. A segment without any other block left is deleted.
 */

/**
 * Stands in every byte of a block that was deleted. JSON text escapes it, so that no block holds it
 * otherwise.
 */
const blank = 0;

/** How many segments are rewritten at once; each is held unpacked. */
const concurrency = 8;

/** Whether a block was deleted. */
export const isBlank = (block: Uint8Array): boolean => block[0] === blank;

/**
 * Overwrites blocks of an unpacked segment.
 *
 * @returns `untouched` where they were blank before; `empty` where nothing else is left in the
 * segment, `blanked` otherwise
 * @throws Error where the segment is too short to hold one
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

/**
 * A segment as it was read, and what can be done to it as long as it is the same; false where it is
 * not.
 */
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
  // The expiry too: a report of the same content brings a later one, and its headers count on it.
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

/** Blanks blocks of one segment; says whether there was anything to blank. */
const blankSegment = (
  store: Store,
  projectId: ProjectId,
  id: string,
  pointers: readonly PayloadPointer[],
  budget: RequestBudget,
): Promise<boolean> => {
  const read = segmentLocation(id) === 'table' ? readItem : readFromBucket;
  return compareAndSwap(budget, async (round) => {
    // The write of an earlier round may have held although its answer was lost.
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
 * Blanks blocks of payload wherever they lie in segments of one project, each segment in one write.
 * What others write to a segment meanwhile is kept: it is then read again.
 *
 * @returns the names of the segments that did not have all of them blank before
 * @throws ServiceError 503 when storage does not take it in time
 */
export const blankPayloads = async (
  store: Store,
  projectId: ProjectId,
  pointers: readonly PayloadPointer[],
  budget: RequestBudget,
): Promise<ReadonlySet<string>> => {
  const bySegment = Map.groupBy(pointers, ({ segment }) => segment);
  const changed = await mapConcurrent([...bySegment], concurrency, async ([id, ofSegment]) => {
    if (id === null) return [];
    return (await blankSegment(store, projectId, id, ofSegment, budget)) ? [id] : [];
  });
  return new Set(changed.flat());
};
