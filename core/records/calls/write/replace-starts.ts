import { pack, unpack } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  asNumber,
  compareAndSwapAll,
  type Item,
  mapConcurrent,
  type RequestBudget,
  replaceItem,
  type Store,
} from '../../../foundations/storage/index.ts';
import { qualifiedId } from '../../../foundations/wire/index.ts';
import type { Changing, HourMarks } from '../../rollups.ts';
import {
  indexedFieldsOf,
  inlineOf,
  isMarked,
  type StartEntry,
  type StartItem,
  toItem,
  withInline,
} from '../codec/items.ts';
import type { EndHeader, PayloadPointer } from '../model.ts';
import { type FormerPayload, former, hasFormer, lostPointers, noteFormer } from '../payloads/former.ts';
import { blockOf } from '../payloads/segments.ts';
import { keyText, readStartEntries, unchanged } from './stored-starts.ts';

/** The number of calls written concurrently. Each takes one to three requests. */
const concurrency = 8;

/** A reported start with the item to store. */
export interface ReportedStart extends StartItem {
  /** Whether the client named the call's trace. If not, the stored start's trace stays. */
  readonly ownTrace: boolean;
  /**
   * Whether it takes the trace that others have reserved for it meanwhile. It does if it names
   * none, is a root, and no other call of the request is in its trace.
   */
  readonly takesReserved: boolean;
  /** Whether the service made the call's id for this request. */
  readonly isNew: boolean;
}

/** A start about to replace what is stored, and the payloads that then lose their pointer. */
interface Replacement {
  readonly report: ReportedStart;
  /** Undefined if nothing is stored any more. */
  readonly before: StartEntry | undefined;
  /** The trace that the call gets. */
  readonly traceId: string;
  readonly item: Item;
  readonly lost: readonly PayloadPointer[];
}

/**
 * Replaces stored starts, and what was reserved for them, by reported starts. Each is a conditional
 * write of its own, and a concurrent change is read and merged again. An end in the same item stays
 * unless the report has one. Notes keep the pointers to payloads that are replaced.
 *
 * @param starts with the items to store
 * @param marks has marked the hours of these starts, and marks those that calls are moved out of
 * @returns the traces of the calls that name none, as they are stored now, by {@link qualifiedId}
 * @throws ServiceError 503 when storage does not accept them in time
 */
export const replaceStarts = async (
  store: Store,
  starts: readonly ReportedStart[],
  marks: HourMarks,
  budget: RequestBudget,
): Promise<Map<string, string>> => {
  const traces = new Map<string, string>();
  const noted = new Set<ReportedStart>();
  await compareAndSwapAll(budget, starts, async (left) => {
    const entries = await readStartEntries(store, left, budget);
    const stored = new Map(entries.map((entry) => [keyText(entry.item), entry]));
    const replacements = await Promise.all(
      left.map((report) => replacementOf(store, report, stored.get(keyText(report.item)))),
    );
    for (const { report, traceId } of replacements) if (!report.ownTrace) traces.set(nameOf(report), traceId);
    await noteFormer(store, replacements.flatMap(formerPayloads), budget);
    for (const { report, lost } of replacements) if (lost.length > 0) noted.add(report);
    const done = await mapConcurrent(replacements, concurrency, async ({ report, before, item }) => {
      const marked = noted.has(report) ? { ...item, ...former } : item;
      if (!before) return replaceItem(store.table, marked, { k: undefined }, budget);
      if (isSame(marked, before.item)) return true;
      await marks.mark(report.projectId, hoursOf(report, before, marked));
      return replaceItem(store.table, marked, unchanged(before.item), budget);
    });
    return left.filter((_, i) => !done[i]);
  });
  return traces;
};

const nameOf = ({ projectId, id }: StartEntry): string => qualifiedId(projectId, id);

const formerPayloads = ({ report: { projectId, id }, lost }: Replacement): FormerPayload[] =>
  lost.map((pointer) => ({ projectId, id, pointer }));

/** The hours that a start leaves and enters. */
const hoursOf = ({ start }: ReportedStart, before: StartEntry, item: Item): Changing[] => [
  ...(before.start ? [{ startedAt: before.start.startedAt }] : []),
  { startedAt: start.startedAt, expiresAt: asNumber(item.x) },
];

/** Works out what a report makes of what is stored. */
const replacementOf = async (
  store: Store,
  report: ReportedStart,
  before: StartEntry | undefined,
): Promise<Replacement> => {
  const traceId = traceOf(report, before);
  if (!before) return { report, before, traceId, item: report.item, lost: [] };
  const { item, end } = await merge(store, { ...report, start: { ...report.start, traceId } }, before);
  return { report, before, traceId, item, lost: lostPointers(before, { start: report.start, end }) };
};

/** The trace of a start that is to replace what is stored. */
const traceOf = ({ start, ownTrace, takesReserved }: ReportedStart, before?: StartEntry): string => {
  const [reserved] = takesReserved ? (before?.earlyTraces ?? []) : [];
  return (ownTrace ? undefined : (before?.start?.traceId ?? reserved)) ?? start.traceId;
};

/** Whether two items have the same content. A repeated report does not extend the expiry. */
const isSame = (a: Item, b: Item): boolean =>
  (['h', 'ts', 'b', 'c', 'ek'] as const).every(
    (name) => Buffer.compare(asBytes(a[name]) ?? empty, asBytes(b[name]) ?? empty) === 0,
  ) && (a.x === undefined) === (b.x === undefined);

const empty = Buffer.alloc(0);

/**
 * The item of a start that replaces another. It retains the stored end if the report has none. Then
 * it expires with the earlier item, because the end's payload does. It also retains the mark of a
 * failed call. The trace that it leaves becomes an early one: calls below it may stay there.
 */
const merge = async (
  store: Store,
  { item, projectId, id, start, end }: StartItem,
  stored: StartEntry,
): Promise<{ item: Item; end: EndHeader | null }> => {
  const retained = end === null && stored.end !== null ? await moveEnd(item, stored.item, stored.end) : null;
  const { x } = item;
  const merged = retained?.end ?? end;
  const formerTraces = [...(stored.earlyTraces ?? []), ...(stored.start ? [stored.start.traceId] : [])];
  const earlyTraces = [...new Set(formerTraces)].filter((trace) => trace !== start.traceId);
  const replacement = toItem(
    store,
    { projectId, id, part: 'S' },
    { start, end: merged, earlyTraces },
    indexedFieldsOf(projectId, id, start),
    end === null && isMarked(stored.item),
  );
  const inline = retained?.inline ?? inlineOf(item);
  const expiry = retained ? earlier(asNumber(x), asNumber(stored.item.x)) : x;
  const { x: _now, ...lasting } = replacement;
  const whole = {
    ...lasting,
    ...(hasFormer(stored.item) && former),
    ...(expiry !== undefined && { x: expiry }),
  };
  return { item: withInline(whole, inline, start.parentId === null || isMarked(whole)), end: merged };
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
