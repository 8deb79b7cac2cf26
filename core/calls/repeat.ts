import {
  type Effort,
  type Expectation,
  forEach,
  getItems,
  type Item,
  replaceItem,
} from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import { packHeader } from './header.ts';
import { endKey, startKey } from './keys.ts';
import type { EndHeader, StartHeader } from './model.ts';
import { type CallStore, fromItem, placeOf, toItem } from './store.ts';

/** How many calls are looked after at once; each takes one to three requests. */
const concurrency = 8;

/** A start and its item, read from the table or about to be put there. */
export interface StartItem {
  readonly item: Item;
  readonly projectId: ProjectId;
  readonly id: string;
  readonly start: StartHeader;
  /** The end that lies in the same item. */
  readonly end: EndHeader | null;
}

/** An item's partition key as text, to look it up by. */
export const keyText = (item: Item): string => Buffer.from(item.k?.B ?? []).toString('latin1');

/**
 * Reads the items of starts by their keys, strongly consistent, in no particular order; calls without a start give nothing.
 *
 * @param calls each once
 * @throws ServiceError 503 when storage does not give them in time
 */
export const readStarts = async (
  store: CallStore,
  calls: readonly Pick<StartItem, 'projectId' | 'id'>[],
  effort: Effort,
): Promise<StartItem[]> => {
  const byKey = new Map(calls.map((call) => [keyText(startKey(call.projectId, call.id)), call]));
  const keys = calls.map(({ projectId, id }) => startKey(projectId, id));
  const items = await getItems(store.table, keys, effort, { consistent: true });
  return items.flatMap((item) => {
    const call = byKey.get(keyText(item));
    if (!call) return [];
    const { start, end } = fromItem(store, call.projectId, item);
    return start ? { item, projectId: call.projectId, id: call.id, start, end } : [];
  });
};

/** That a stored item still has the header it was read with. */
const unchanged = ({ h }: Item): Expectation => (h ? { attribute: 'h', equals: h } : { absent: 'k' });

/**
 * Puts starts whose calls have a start already in the place of those. Each is a conditional write of its own, so that an
 * end which lies in the same item, or arrives there meanwhile, is never lost: it moves to an item of its own first.
 *
 * @param starts as they would be stored
 * @throws ServiceError 503 when storage does not take them in time
 */
export const repeatStarts = async (
  store: CallStore,
  starts: readonly StartItem[],
  effort: Effort,
): Promise<void> => {
  let left = starts;
  while (left.length > 0) {
    const stored = new Map(
      (await readStarts(store, left, effort)).map((start) => [keyText(start.item), start]),
    );
    const done = await forEach(left, concurrency, (start) =>
      repeatStart(store, start, stored.get(keyText(start.item)), effort),
    );
    left = left.filter((_, i) => !done[i]);
  }
};

/** Replaces one start; false when the stored item changed meanwhile and the whole must be looked at again. */
const repeatStart = async (
  store: CallStore,
  start: StartItem,
  stored: StartItem | undefined,
  effort: Effort,
): Promise<boolean> => {
  if (stored === undefined) return replaceItem(store.table, start.item, { absent: 'k' }, effort);
  if (saysTheSame(store, start, stored)) return true;
  if (stored.end && !(await moveEnd(store, stored, stored.end, start.start, effort))) return false;
  return replaceItem(store.table, start.item, unchanged(stored.item), effort);
};

/**
 * Whether two starts of a call say the same; when they were written does not count. Payloads of the same content are in the same
 * segment; of those that ride in their items nothing is known.
 */
const saysTheSame = (store: CallStore, a: StartItem, b: StartItem): boolean => {
  if (a.start.payload.segment === null || b.start.payload.segment === null) return false;
  const owner = { projectId: a.projectId, id: a.id, service: store.service };
  const packed = ({ start }: StartItem) =>
    packHeader({ start: { ...start, writtenAt: 0 }, end: null }, owner);
  return Buffer.compare(packed(a), packed(b)) === 0;
};

/**
 * Gives the end that lies in a start's item an item of its own, beside the new start, unless there is a later one. It keeps its
 * expiry, and with it the payload that it points at.
 *
 * @returns false when that item changed meanwhile
 */
const moveEnd = async (
  store: CallStore,
  { item: { x, b }, projectId, id }: StartItem,
  end: EndHeader,
  newStart: StartHeader,
  effort: Effort,
): Promise<boolean> => {
  const [other] = await getItems(store.table, [endKey(projectId, id)], effort, { consistent: true });
  const otherEnd = other && fromItem(store, projectId, other).end;
  if (otherEnd && otherEnd.writtenAt >= end.writtenAt) return true;
  const { x: _fresh, ...item } = toItem(
    store,
    { projectId, id, part: 'E' },
    { start: null, end },
    placeOf(projectId, id, newStart),
  );
  const moved = { ...item, ...(x && { x }), ...(b && { b }) };
  return replaceItem(store.table, moved, other ? unchanged(other) : { absent: 'k' }, effort);
};

/**
 * Takes out of starts' items the ends that a later end, in an item of its own, has come for: `by_trace` shows starts alone,
 * and would go on showing the old end. An item that has changed since it was read says something newer, and is left.
 *
 * @throws ServiceError 503 when storage does not take it in time
 */
export const dropEnds = async (
  store: CallStore,
  stored: readonly StartItem[],
  effort: Effort,
): Promise<void> => {
  const outdated = stored.filter(({ end }) => end !== null);
  await forEach(outdated, concurrency, async ({ item, projectId, id, start }) => {
    const h = { B: packHeader({ start, end: null }, { projectId, id, service: store.service }) };
    await replaceItem(store.table, { ...item, h }, unchanged(item), effort);
  });
};
