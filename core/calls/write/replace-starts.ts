import { pack, unpack } from '../../encoding/index.ts';
import {
  asBytes,
  asNumber,
  type Condition,
  compareAndSwapAll,
  getItems,
  type Item,
  mapConcurrent,
  type RequestBudget,
  replaceItem,
  type Store,
} from '../../storage/index.ts';
import { packHeader } from '../codec/header.ts';
import { fromItem, indexedFieldsOf, type StartItem, toItem } from '../codec/items.ts';
import { startKey } from '../codec/keys.ts';
import type { EndHeader, PayloadPointer } from '../model.ts';
import { blockOf } from '../payloads/segments.ts';
import { qualifiedId } from './group-reports.ts';

/** How many calls are looked after at once; each takes one to three requests. */
const concurrency = 8;

/** A start as it was reported, and its item as it would be stored. */
export interface ReportedStart extends StartItem {
  /** Whether the client named the call's trace; else the one that it is stored with stays. */
  readonly ownTrace: boolean;
  /** Whether the service has just made the call's id. */
  readonly isNew: boolean;
}

/** An item's partition key as text, to look it up by. */
const keyText = (item: Item): string => Buffer.from(asBytes(item.k) ?? []).toString('latin1');

/**
 * Reads the items of starts by their keys, strongly consistent, in no particular order; calls
 * without a start give nothing.
 *
 * @param calls each once
 * @throws ServiceError 503 when storage does not give them in time
 */
export const readStarts = async (
  store: Store,
  calls: readonly Pick<StartItem, 'projectId' | 'id'>[],
  budget: RequestBudget,
): Promise<StartItem[]> => {
  const byKey = new Map(calls.map((call) => [keyText(startKey(call.projectId, call.id)), call]));
  const keys = calls.map(({ projectId, id }) => startKey(projectId, id));
  const items = await getItems(store.table, keys, budget, { consistent: true });
  return items.flatMap((item) => {
    const call = byKey.get(keyText(item));
    if (!call) return [];
    const { start, end } = fromItem(store, call.projectId, item);
    return start ? [{ item, projectId: call.projectId, id: call.id, start, end }] : [];
  });
};

/** That a stored item is as it was read: its header, and the payload that rides in it. */
export const unchanged = ({ h, b }: Item): Condition => ({ h, b });

/**
 * Puts starts whose calls have a start already in the place of those. Each is a conditional write
 * of its own, so that what arrives meanwhile is looked at again. An end that lies in the same item
 * stays there, unless the report brings another.
 *
 * @param starts as they would be stored
 * @returns the traces of those that keep the one they were stored with, by {@link qualifiedId}
 * @throws ServiceError 503 when storage does not take them in time
 */
export const replaceStarts = async (
  store: Store,
  starts: readonly ReportedStart[],
  budget: RequestBudget,
): Promise<Map<string, string>> => {
  const traces = new Map<string, string>();
  await compareAndSwapAll(budget, starts, async (left) => {
    const stored = new Map(
      (await readStarts(store, left, budget)).map((start) => [keyText(start.item), start]),
    );
    const done = await mapConcurrent(left, concurrency, async (report) => {
      const before = stored.get(keyText(report.item));
      if (!before) return replaceItem(store.table, report.item, { k: undefined }, budget);
      if (!report.ownTrace) traces.set(qualifiedId(report.projectId, report.id), before.start.traceId);
      return replaceStart(store, report, before, budget);
    });
    return left.filter((_, i) => !done[i]);
  });
  return traces;
};

/**
 * Replaces one start; false when the stored item changed meanwhile and the whole must be looked at
 * again.
 */
const replaceStart = async (
  store: Store,
  report: ReportedStart,
  stored: StartItem,
  budget: RequestBudget,
): Promise<boolean> => {
  const start = report.ownTrace ? report.start : { ...report.start, traceId: stored.start.traceId };
  const merged = await merge(store, { ...report, start }, stored);
  if (isSame(merged, stored.item)) return true;
  return replaceItem(store.table, merged, unchanged(stored.item), budget);
};

/** Whether two items say the same; a repetition does not make them expire later. */
const isSame = (a: Item, b: Item): boolean =>
  (['h', 'b'] as const).every(
    (name) => Buffer.compare(asBytes(a[name]) ?? empty, asBytes(b[name]) ?? empty) === 0,
  ) && (a.x === undefined) === (b.x === undefined);

const empty = Buffer.alloc(0);

/**
 * The item of a start that takes another's place. The end that lies in that one is kept where the
 * report has none, and the item then expires with the one that it came in, since its payload does.
 */
const merge = async (
  store: Store,
  { item, projectId, id, start, end }: StartItem,
  stored: StartItem,
): Promise<Item> => {
  const kept = end === null && stored.end !== null ? await keptEnd(item, stored.item, stored.end) : null;
  const { x, b } = item;
  const whole = toItem(
    store,
    { projectId, id, part: 'S' },
    { start, end: kept?.end ?? end },
    indexedFieldsOf(projectId, id, start),
  );
  const inline = kept?.inline ?? b;
  const expiry = kept ? earlier(asNumber(x), asNumber(stored.item.x)) : x;
  const { x: _now, ...lasting } = whole;
  return { ...lasting, ...(expiry !== undefined && { x: expiry }), ...(inline && { b: inline }) };
};

const earlier = (a: number | undefined, b: number | undefined): number | undefined =>
  a !== undefined && b !== undefined ? Math.min(a, b) : (a ?? b);

/**
 * An end that moves from one item to another, with its payload where that rides along: behind the
 * payload of the new start.
 */
const keptEnd = async (
  item: Item,
  stored: Item,
  end: EndHeader,
): Promise<{ end: EndHeader; inline?: Uint8Array }> => {
  if (end.payload.segment !== null) return { end };
  const own = asBytes(item.b);
  const before = own ? await unpack(own) : empty;
  const block = blockOf(await unpack(asBytes(stored.b) ?? empty), end.payload);
  const payload: PayloadPointer = { segment: null, offset: before.length, length: block.length };
  return { end: { ...end, payload }, inline: await pack(Buffer.concat([before, block])) };
};

/**
 * Takes out of starts' items the ends that another, in an item of its own, has come for: an end
 * beside its start is the one in force, and nobody would look for the other. An item that has
 * changed since it was read is looked at again: it may have taken the end along.
 *
 * @throws ServiceError 503 when storage does not take it in time
 */
export const dropEnds = (store: Store, stored: readonly StartItem[], budget: RequestBudget): Promise<void> =>
  compareAndSwapAll(budget, stored.filter(hasEnd), async (left, round) => {
    const starts = round === 0 ? left : (await readStarts(store, left, budget)).filter(hasEnd);
    const done = await mapConcurrent(starts, concurrency, ({ item, projectId, id, start }) => {
      const h = packHeader({ start, end: null }, { projectId, id, names: store.names });
      return replaceItem(store.table, { ...item, h }, unchanged(item), budget);
    });
    return starts.filter((_, i) => !done[i]);
  });

const hasEnd = ({ end }: StartItem): boolean => end !== null;
