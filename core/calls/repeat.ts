import { type Effort, forEach, getItems, type Item, replaceItem } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import { packHeader } from './header.ts';
import type { EndHeader, StartHeader } from './model.ts';
import { type CallStore, fromItem, placeOf, type StoredPart, toItem } from './store.ts';

const concurrency = 8;

/**
 * Puts starts whose calls have a start already in the place of those. Each is a conditional write of its own, so that an
 * end which lies in the same item, or arrives there meanwhile, is never lost: it moves to an item of its own first.
 *
 * @param items the starts' items, as they would be stored
 * @throws ServiceError 503 when storage does not take them in time
 */
export const repeatStarts = async (
  store: CallStore,
  items: readonly Item[],
  effort: Effort,
): Promise<void> => {
  let left = items;
  while (left.length > 0) {
    const keys = left.map(({ k, p }) => ({ k, p }) as Item);
    const found = await getItems(store.table, keys, effort, { consistent: true });
    const present = new Map(found.map((item) => [keyText(item), item]));
    const done = await forEach(left, concurrency, (item) =>
      repeatStart(store, item, present.get(keyText(item)), effort),
    );
    left = left.filter((_, i) => !done[i]);
  }
};

/** An item's partition key as text, to look it up by. */
export const keyText = (item: Item): string => Buffer.from(item.k?.B ?? []).toString('latin1');

/** Replaces one start; false when the stored item changed meanwhile and the whole must be looked at again. */
const repeatStart = async (
  store: CallStore,
  item: Item,
  present: Item | undefined,
  effort: Effort,
): Promise<boolean> => {
  if (present === undefined) return replaceItem(store.table, item, undefined, effort);
  const projectId = projectOf(item);
  const mine = fromItem(store, projectId, item);
  const stored = fromItem(store, projectId, present);
  if (mine.start === null || stored.start === null) throw new Error('a start without a start');
  if (sameStart(store, projectId, mine.id, mine.start, stored.start)) return true;
  if (stored.end && !(await moveEnd(store, projectId, present, stored, mine.start, effort))) return false;
  return replaceItem(store.table, item, ['h', present.h ?? { NULL: true }], effort);
};

const projectOf = (item: Item): ProjectId => {
  const key = Buffer.from(item.k?.B ?? []);
  return key.subarray(0, key.indexOf(0)).toString('utf8') as ProjectId;
};

/** Whether two starts say the same; when they were written does not count. A payload of the same content has the same pointer. */
const sameStart = (
  store: CallStore,
  projectId: ProjectId,
  id: string,
  a: StartHeader,
  b: StartHeader,
): boolean => {
  if (a.payload.segment === null || b.payload.segment === null) return false;
  const owner = { projectId, id, service: store.service };
  const packed = (start: StartHeader) => packHeader({ start: { ...start, writtenAt: 0 }, end: null }, owner);
  return Buffer.compare(packed(a), packed(b)) === 0;
};

/** Gives the end that lies in a start's item an item of its own, unless there is a later one. */
const moveEnd = async (
  store: CallStore,
  projectId: ProjectId,
  present: Item,
  stored: StoredPart,
  newStart: StartHeader,
  effort: Effort,
): Promise<boolean> => {
  const { id, end } = stored;
  if (end === null) return true;
  const place = placeOf(projectId, id, newStart);
  const item: Item = {
    ...toItem(store, { projectId, id, part: 'E' }, { start: null, end }, place),
    ...(present.b && { b: present.b }),
  };
  const [other] = await getItems(store.table, [{ k: item.k, p: item.p } as Item], effort, {
    consistent: true,
  });
  const otherEnd: EndHeader | null = other ? fromItem(store, projectId, other).end : null;
  if (otherEnd && otherEnd.writtenAt >= end.writtenAt) return true;
  return replaceItem(store.table, item, other?.h && ['h', other.h], effort);
};

/** A stored start: its item as it was read, and what it says. */
export interface StoredStart {
  readonly item: Item;
  readonly projectId: ProjectId;
  readonly id: string;
  readonly start: StartHeader;
  readonly end: EndHeader | null;
}

/**
 * Takes out of starts' items the ends that a later end, in an item of its own, has come for: `by_trace` shows starts alone,
 * and would go on showing the old end. An item that has changed since it was read is left: who changed it saw to it.
 *
 * @throws ServiceError 503 when storage does not take it in time
 */
export const dropEnds = async (
  store: CallStore,
  stored: readonly StoredStart[],
  effort: Effort,
): Promise<void> => {
  const outdated = stored.filter(({ end }) => end !== null);
  await forEach(outdated, concurrency, async ({ item, projectId, id, start }) => {
    const h = { B: packHeader({ start, end: null }, { projectId, id, service: store.service }) };
    await replaceItem(store.table, { ...item, h }, item.h && ['h', item.h], effort);
  });
};
