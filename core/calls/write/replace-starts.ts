import { pack, unpack } from '../../encoding/index.ts';
import type { HourMarks } from '../../rollups/index.ts';
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
import {
  fromItem,
  indexedFieldsOf,
  inlineOf,
  isMarked,
  type StartItem,
  toItem,
  withInline,
} from '../codec/items.ts';
import { startKey } from '../codec/keys.ts';
import type { EndHeader, PayloadPointer, StartHeader } from '../model.ts';
import { blockOf } from '../payloads/segments.ts';
import { qualifiedId } from './group-reports.ts';

/** The number of calls written concurrently. Each takes one to three requests. */
const concurrency = 8;

/** A reported start with the item to store. */
export interface ReportedStart extends StartItem {
  /** Whether the client named the call's trace. If not, the stored start's trace stays. */
  readonly ownTrace: boolean;
  /** Whether the service made the call's id for this request. */
  readonly isNew: boolean;
}

/** An item's partition key as text, for lookups. */
const keyText = (item: Item): string => Buffer.from(asBytes(item.k) ?? []).toString('latin1');

/** The item in the place of a start. It may keep that place for a start that is not known yet. */
export type StoredStart = Omit<StartItem, 'start'> & { readonly start: StartHeader | null };

/**
 * Reads the items in the places of starts, strongly consistent, in any order.
 *
 * @param calls without duplicates
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readStartItems = async (
  store: Store,
  calls: readonly Pick<StartItem, 'projectId' | 'id'>[],
  budget: RequestBudget,
): Promise<StoredStart[]> => {
  const byKey = new Map(calls.map((call) => [keyText(startKey(call.projectId, call.id)), call]));
  const keys = calls.map(({ projectId, id }) => startKey(projectId, id));
  const items = await getItems(store.table, keys, budget, { consistent: true });
  return items.flatMap((item) => {
    const call = byKey.get(keyText(item));
    if (!call) return [];
    const { start, end } = fromItem(store, call.projectId, item);
    return [{ item, projectId: call.projectId, id: call.id, start, end }];
  });
};

/**
 * Reads the items of starts, strongly consistent, in any order. Calls without a start are left out.
 *
 * @param calls without duplicates
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readStarts = async (
  store: Store,
  calls: readonly Pick<StartItem, 'projectId' | 'id'>[],
  budget: RequestBudget,
): Promise<StartItem[]> =>
  (await readStartItems(store, calls, budget)).flatMap((stored) =>
    stored.start ? [{ ...stored, start: stored.start }] : [],
  );

/**
 * The condition that a stored item has the header, inline payload and mark of a failed call that
 * were read.
 */
export const unchanged = ({ h, b, c, ek }: Item): Condition => ({ h, b, c, ek });

/**
 * Replaces stored starts by reported ones. Each is a conditional write of its own, and a concurrent
 * change is read and merged again. An end in the same item stays unless the report has one.
 *
 * @param starts with the items to store
 * @param marks has marked the hours of these starts, and marks those that calls are moved out of
 * @returns the traces of the calls that keep their stored trace, by {@link qualifiedId}
 * @throws ServiceError 503 when storage does not accept them in time
 */
export const replaceStarts = async (
  store: Store,
  starts: readonly ReportedStart[],
  marks: HourMarks,
  budget: RequestBudget,
): Promise<Map<string, string>> => {
  const traces = new Map<string, string>();
  await compareAndSwapAll(budget, starts, async (left) => {
    const stored = new Map(
      (await readStartItems(store, left, budget)).map((start) => [keyText(start.item), start]),
    );
    const done = await mapConcurrent(left, concurrency, async (report) => {
      const before = stored.get(keyText(report.item));
      if (!before) return replaceItem(store.table, report.item, { k: undefined }, budget);
      if (!report.ownTrace && before.start)
        traces.set(qualifiedId(report.projectId, report.id), before.start.traceId);
      return replaceStart(store, report, before, marks, budget);
    });
    return left.filter((_, i) => !done[i]);
  });
  return traces;
};

/**
 * Replaces one start.
 *
 * @returns false if the stored item has changed, so that it must be read and merged again
 */
const replaceStart = async (
  store: Store,
  report: ReportedStart,
  stored: StoredStart,
  marks: HourMarks,
  budget: RequestBudget,
): Promise<boolean> => {
  const traceId = (report.ownTrace ? undefined : stored.start?.traceId) ?? report.start.traceId;
  const start = { ...report.start, traceId };
  const merged = await merge(store, { ...report, start }, stored);
  if (isSame(merged, stored.item)) return true;
  await marks.mark(report.projectId, [
    ...(stored.start ? [{ startedAt: stored.start.startedAt }] : []),
    { startedAt: start.startedAt, expiresAt: asNumber(merged.x) },
  ]);
  return replaceItem(store.table, merged, unchanged(stored.item), budget);
};

/** Whether two items have the same content. A repeated report does not extend the expiry. */
const isSame = (a: Item, b: Item): boolean =>
  (['h', 'b', 'c', 'ek'] as const).every(
    (name) => Buffer.compare(asBytes(a[name]) ?? empty, asBytes(b[name]) ?? empty) === 0,
  ) && (a.x === undefined) === (b.x === undefined);

const empty = Buffer.alloc(0);

/**
 * The item of a start that replaces another. It retains the stored end if the report has none. Then
 * it expires with the earlier item, because the end's payload does. It also retains the mark of a
 * failed call, and takes it over from the item that kept its place.
 */
const merge = async (
  store: Store,
  { item, projectId, id, start, end }: StartItem,
  stored: StoredStart,
): Promise<Item> => {
  const retained = end === null && stored.end !== null ? await moveEnd(item, stored.item, stored.end) : null;
  const { x } = item;
  const replacement = toItem(
    store,
    { projectId, id, part: 'S' },
    { start, end: retained?.end ?? end },
    indexedFieldsOf(projectId, id, start),
    end === null && (stored.start === null || isMarked(stored.item)),
  );
  const inline = retained?.inline ?? inlineOf(item);
  const expiry = retained ? earlier(asNumber(x), asNumber(stored.item.x)) : x;
  const { x: _now, ...lasting } = replacement;
  const merged = { ...lasting, ...(expiry !== undefined && { x: expiry }) };
  return withInline(merged, inline, start.parentId === null || isMarked(merged));
};

const earlier = (a: number | undefined, b: number | undefined): number | undefined =>
  a !== undefined && b !== undefined ? Math.min(a, b) : (a ?? b);

/** Moves an end to another item. An inline payload goes behind the payload of the new start. */
const moveEnd = async (
  item: Item,
  stored: Item,
  end: EndHeader,
): Promise<{ end: EndHeader; inline?: Uint8Array }> => {
  if (end.payload.segment !== null) return { end };
  const own = inlineOf(item);
  const before = own ? await unpack(own) : empty;
  const block = blockOf(await unpack(inlineOf(stored) ?? empty), end.payload);
  const payload: PayloadPointer = { segment: null, offset: before.length, length: block.length };
  return { end: { ...end, payload }, inline: await pack(Buffer.concat([before, block])) };
};

/**
 * Removes ends from the items of starts after an end was reported by itself. An end beside its
 * start overrides the one by itself, so the stale one must go. A changed item is read again,
 * because a concurrent report may have retained the end.
 *
 * @throws ServiceError 503 when storage does not accept it in time
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
