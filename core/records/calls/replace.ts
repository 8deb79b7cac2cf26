import { isDeepStrictEqual } from 'node:util';
import { pack, unpack } from '../../../foundations/encoding/index.ts';
import {
  asNumber,
  compareAndSwap,
  compareAndSwapAll,
  getItems,
  type Item,
  mapConcurrent,
  type RequestBudget,
  replaceItem,
  type Store,
  shardCount,
} from '../../../foundations/storage/index.ts';
import { notFound, type ProjectId } from '../../../foundations/wire/index.ts';
import { redactDisplayName } from '../redaction.ts';
import type { Changing, HourMarks } from '../rollups.ts';
import { packHeader, withGivenUser } from './header.ts';
import {
  awaitedFlag,
  type CallName,
  endKey,
  errorKeys,
  errorOfUnknownStart,
  fromItem,
  getInlinePayload,
  isAwaited,
  isFailed,
  isInErrors,
  keyText,
  readStartEntries,
  readStarts,
  type StartEntry,
  type StartItem,
  startKey,
  toCallKey,
  toItem,
  unchanged,
  withInline,
} from './items.ts';
import type { EndHeader, PayloadPointer, StartHeader } from './model.ts';
import { cutBlock, formerFlag, hasFormer, lostPointers, noteFormer } from './payloads.ts';

/*
 * Changes of what is stored of a call already. Each is a conditional write of its own, on what was
 * read before. Where somebody else has written meanwhile, what is there is read and changed again.
 */

/** The number of calls written concurrently. Each takes one to three requests. */
const concurrency = 8;

/** A reported start with the item to store, in which the end lies too if both were reported. */
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
  /** Whether its thread, turn and user come of all that is known of its trace's spans. */
  readonly isMet: boolean;
}

/** An end that was reported by itself, with the item to store. */
export interface ReportedEnd extends CallName {
  readonly item: Item;
  readonly start: null;
  readonly end: EndHeader;
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
 * Whether two items have the same content and place in the indexes. A repeated report does not
 * extend the expiry.
 */
const isSame = ({ x: a, ...item }: Item, { x: b, ...other }: Item): boolean =>
  isDeepStrictEqual(withPlainBytes(item), withPlainBytes(other)) && (a === undefined) === (b === undefined);

/** An item with its bytes in one type, whoever made them. */
const withPlainBytes = (item: Item): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Uint8Array.from(value) : value,
    ]),
  );

/**
 * Replaces stored starts, and what was reserved for them, by reported starts. An end in the same
 * item stays unless the report has one. Notes keep the pointers to payloads that are replaced.
 *
 * @param starts with the items to store
 * @param marks has marked the hours of these starts, and marks those that calls are moved out of
 * @param addsOnly whether stored starts stay as they are, and only what was reserved is replaced
 * @param onAwaited is told of each start that others waited for, before it is written
 * @returns the traces of the calls that name none, as they are stored now, by {@link toCallKey}
 * @throws ServiceError 503 when storage does not accept them in time
 */
export const replaceStarts = async (
  store: Store,
  starts: readonly ReportedStart[],
  marks: HourMarks,
  budget: RequestBudget,
  {
    addsOnly = false,
    onAwaited = () => {},
  }: { readonly addsOnly?: boolean; readonly onAwaited?: ((call: CallName) => void) | undefined } = {},
): Promise<Map<string, string>> => {
  const traces = new Map<string, string>();
  const noted = new Set<ReportedStart>();
  await compareAndSwapAll(budget, starts, async (all) => {
    const entries = await readStartEntries(store, all, budget);
    const stored = new Map(entries.map((entry) => [keyText(entry.item), entry]));
    const left = addsOnly ? all.filter(({ item }) => !stored.get(keyText(item))?.start) : all;
    const replacements = await Promise.all(
      left.map((report) => planReplacement(store, report, stored.get(keyText(report.item)))),
    );
    for (const { report, traceId } of replacements)
      if (!report.ownTrace) traces.set(toCallKey(report), traceId);
    const lost = replacements.flatMap(({ report: { projectId, id }, lost: pointers }) =>
      pointers.map((pointer) => ({ projectId, id, pointer })),
    );
    await noteFormer(store, lost, budget);
    for (const { report, lost: pointers } of replacements) if (pointers.length > 0) noted.add(report);
    for (const { report, before } of replacements) if (before && isAwaited(before.item)) onAwaited(report);
    const done = await mapConcurrent(replacements, concurrency, async ({ report, before, item: merged }) => {
      const item = noted.has(report) ? { ...merged, ...formerFlag } : merged;
      if (!before) return replaceItem(store.table, item, { k: undefined }, budget);
      if (isSame(item, before.item)) return true;
      await marks.mark(report.projectId, changedHours(report, before, item), true);
      return replaceItem(store.table, item, unchanged(before.item), budget);
    });
    return left.filter((_, i) => !done[i]);
  });
  return traces;
};

/** The hours that a start leaves and enters. */
const changedHours = ({ start }: ReportedStart, before: StartEntry, item: Item): Changing[] => [
  ...(before.start ? [{ startedAt: before.start.startedAt }] : []),
  { startedAt: start.startedAt, expiresAt: asNumber(item.x) },
];

/** Works out what a report makes of what is stored. */
const planReplacement = async (
  store: Store,
  report: ReportedStart,
  before: StartEntry | undefined,
): Promise<Replacement> => {
  const traceId = chooseTrace(report, before);
  if (!before) return { report, before, traceId, item: report.item, lost: [] };
  const start = { ...placed(report, before), traceId };
  const { item, end } = await merge(store, { ...report, start }, before);
  return { report, before, traceId, item, lost: lostPointers(before, { start: report.start, end }) };
};

/**
 * A reported start in its thread and turn, with its user. Those of a span that is reported again stay:
 * they may come of spans that this request does not have. What a request has found of all of them counts.
 */
const placed = ({ start, isMet }: ReportedStart, { start: before }: StartEntry): StartHeader => {
  const { span, parentId } = start;
  if (!span || !before?.span || isMet) return start;
  if (parentId !== before.parentId || span.threadId !== before.span.threadId) return start;
  const { threadId, turnId } = before;
  return withUser({ ...start, threadId, turnId }, before.span.givenUser);
};

/** A start with the user that others give it, unless it names one itself. */
export const withUser = (start: StartHeader, user: string | null): StartHeader => {
  const { span, attributes } = start;
  if (!span || span.givenUser === user) return start;
  const { 'user.id': own, ...others } = attributes;
  if (own !== undefined && span.givenUser === null) return start;
  return { ...start, span: { ...span, givenUser: user }, attributes: withGivenUser(others, user) };
};

/** The trace of a start that is to replace what is stored. */
const chooseTrace = ({ start, ownTrace, takesReserved }: ReportedStart, before?: StartEntry): string => {
  const [reserved] = takesReserved ? (before?.earlyTraces ?? []) : [];
  return (ownTrace ? undefined : (before?.start?.traceId ?? reserved)) ?? start.traceId;
};

/**
 * The item of a start that replaces another. It keeps the stored end if the report has none. Then
 * it expires with the earlier item, because the end's payload does. It also stays in the list of
 * errors. The trace that it leaves becomes an early one: calls below it may stay there.
 */
const merge = async (
  store: Store,
  { item, projectId, id, start, end }: StartItem,
  stored: StartEntry,
): Promise<{ item: Item; end: EndHeader | null }> => {
  const kept = end === null && stored.end !== null ? await moveEnd(item, stored.item, stored.end) : null;
  const merged = kept?.end ?? end;
  const left = [...(stored.earlyTraces ?? []), ...(stored.start ? [stored.start.traceId] : [])];
  const earlyTraces = [...new Set(left)].filter((trace) => trace !== start.traceId);
  const { x: _now, ...replacement } = toItem(
    store,
    { projectId, id, part: 'S' },
    { start, end: merged, earlyTraces },
    start,
    isFailed(merged) || (end === null && isInErrors(stored.item)),
  );
  const x = kept ? earlier(asNumber(item.x), asNumber(stored.item.x)) : item.x;
  const whole = {
    ...replacement,
    ...(hasFormer(stored.item) && formerFlag),
    ...(isAwaited(stored.item) && awaitedFlag),
    ...(x !== undefined && { x }),
  };
  const isListed = start.parentId === null || isInErrors(whole);
  return { item: withInline(whole, kept?.inline ?? getInlinePayload(item), isListed), end: merged };
};

const earlier = (a: number | undefined, b: number | undefined): number | undefined =>
  a !== undefined && b !== undefined ? Math.min(a, b) : (a ?? b);

const nothing = Buffer.alloc(0);

/** Moves an end to another item. An inline payload goes behind the payload of the new start. */
const moveEnd = async (
  item: Item,
  stored: Item,
  end: EndHeader,
): Promise<{ end: EndHeader; inline?: Uint8Array }> => {
  if (end.payload.segment !== null) return { end };
  const own = getInlinePayload(item);
  const before = own ? unpack(own) : nothing;
  const block = cutBlock(unpack(getInlinePayload(stored) ?? nothing), end.payload);
  const payload: PayloadPointer = { segment: null, offset: before.length, length: block.length };
  return { end: { ...end, payload }, inline: await pack(Buffer.concat([before, block])) };
};

/**
 * Replaces stored ends by reported ones. Notes keep the pointers to payloads that are replaced.
 *
 * @param ends with the items to store
 * @throws ServiceError 503 when storage does not accept them in time
 */
export const replaceEnds = async (
  store: Store,
  ends: readonly ReportedEnd[],
  budget: RequestBudget,
): Promise<void> => {
  const noted = new Set<ReportedEnd>();
  await compareAndSwapAll(budget, ends, async (left) => {
    const keys = left.map(({ projectId, id }) => endKey(projectId, id));
    const items = await getItems(store.table, keys, budget, { consistent: true });
    const stored = new Map(items.map((item) => [keyText(item), item]));
    const lost = left.flatMap((report) => {
      const { projectId, id, item, end } = report;
      const before = stored.get(keyText(item));
      const pointers = before ? lostPointers(fromItem(projectId, before), { start: null, end }) : [];
      if (pointers.length > 0) noted.add(report);
      return pointers.map((pointer) => ({ projectId, id, pointer }));
    });
    await noteFormer(store, lost, budget);
    const done = await mapConcurrent(left, concurrency, async (report) => {
      const before = stored.get(keyText(report.item));
      const hasNotes = noted.has(report) || (before && hasFormer(before));
      const item = hasNotes ? { ...report.item, ...formerFlag } : report.item;
      if (!before) return replaceItem(store.table, item, { k: undefined }, budget);
      return isSame(item, before) || replaceItem(store.table, item, unchanged(before), budget);
    });
    return left.filter((_, i) => !done[i]);
  });
};

/**
 * Removes ends from the items of starts after an end was reported by itself. An end beside its
 * start overrides the one by itself, so the stale one must go. A changed item is read again,
 * because a concurrent report may have kept the end.
 *
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const dropEnds = (store: Store, stored: readonly StartItem[], budget: RequestBudget): Promise<void> =>
  compareAndSwapAll(budget, stored.filter(hasEnd), async (left, round) => {
    const starts = round === 0 ? left : (await readStarts(store, left, budget)).filter(hasEnd);
    const lost = starts.flatMap(({ projectId, id, start, end }) =>
      lostPointers({ start, end }, { start, end: null }).map((pointer) => ({ projectId, id, pointer })),
    );
    await noteFormer(store, lost, budget);
    const noted = new Set(lost.map(toCallKey));
    const done = await mapConcurrent(starts, concurrency, (call) => {
      const { item, projectId, id, start, earlyTraces } = call;
      const h = packHeader({ start, end: null, earlyTraces }, { projectId, id });
      const changed = { ...item, h, ...(noted.has(toCallKey(call)) && formerFlag) };
      return replaceItem(store.table, changed, unchanged(item), budget);
    });
    return starts.filter((_, i) => !done[i]);
  });

const hasEnd = ({ end }: StartItem): boolean => end !== null;

/** The item that keeps the place of a start that is not known yet. */
export const placeholder = (store: Store, { projectId, id }: CallName): Item => ({
  ...toItem(store, { projectId, id, part: 'S' }, { start: null, end: null }, null),
  ...startKey(projectId, id),
});

/**
 * Puts placeholders where starts are not known yet. A start that comes later finds its key taken
 * and replaces what is there, so the stream shows that something came before it.
 *
 * @param calls without duplicates
 * @returns the calls with something under the key of their start
 * @throws ServiceError 503 when storage does not answer in time
 */
export const putPlaceholders = async <T extends CallName>(
  store: Store,
  calls: readonly T[],
  budget: RequestBudget,
): Promise<T[]> => {
  const put = await mapConcurrent(calls, concurrency, (call) =>
    replaceItem(store.table, placeholder(store, call), { k: undefined }, budget),
  );
  return calls.filter((_, i) => !put[i]);
};

/**
 * Adds calls to the list of errors, after their ends were reported by themselves and stored. Ends
 * beside their starts enter it by themselves. The start is written again with a key for that index.
 * Where the start is not known yet, a placeholder has the key. Such a start cannot be inserted
 * then, and takes the key over.
 *
 * The key is never taken back, except by a start and end together: a reader of the list looks at
 * the end in force anyway. So two requests cannot lose the error of a call that one of them has
 * failed.
 *
 * @param known the starts that the ends were stored with, as they were read before that
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const addToErrors = (
  store: Store,
  calls: readonly CallName[],
  known: readonly StartItem[],
  budget: RequestBudget,
): Promise<void> =>
  compareAndSwapAll(budget, calls, async (left, round) => {
    // A key that was read before the end was stored may be gone, so it is looked for again.
    const entries = new Map<string, StartEntry>();
    if (round === 0)
      for (const entry of known) if (!isInErrors(entry.item)) entries.set(toCallKey(entry), entry);
    const unread = left.filter((call) => !entries.has(toCallKey(call)));
    if (unread.length > 0)
      for (const entry of await readStartEntries(store, unread, budget)) entries.set(toCallKey(entry), entry);
    const done = await mapConcurrent(left, concurrency, async (call) => {
      const stored = entries.get(toCallKey(call));
      if (!stored) {
        const item = { ...placeholder(store, call), ...errorOfUnknownStart };
        return replaceItem(store.table, item, { k: undefined }, budget);
      }
      const { item, projectId, id, start } = stored;
      if (isInErrors(item)) return true;
      const key = start ? errorKeys({ projectId, id, ...start }, shardCount(store)) : errorOfUnknownStart;
      return replaceItem(store.table, { ...item, ...key }, unchanged(item), budget);
    });
    return left.filter((_, i) => !done[i]);
  });

/** The fields of a call that can change without a report. */
export interface CallChanges {
  /** The name to show; null for the op's name. */
  readonly displayName: string | null;
}

/**
 * Changes a stored call and keeps all other fields and index keys. A concurrent report is kept too:
 * the change is applied to its result.
 *
 * @throws ServiceError 404 if there is no call with the id, or no start of it yet; 503 when storage
 * does not accept it in time
 */
export const updateCall = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  changes: CallChanges,
  budget: RequestBudget,
): Promise<void> => {
  const displayName = await redactDisplayName(store, changes.displayName);
  await compareAndSwap(budget, async () => {
    const [stored] = await readStarts(store, [{ projectId, id }], budget);
    if (!stored)
      throw notFound(['body', 'call_id'], 'there is no such call in this project, or no start of it yet');
    const { item, start, end, earlyTraces } = stored;
    if (start.displayName === displayName) return { value: undefined };
    const owner = { projectId, id };
    const h = packHeader({ start: { ...start, displayName }, end, earlyTraces }, owner);
    const held = await replaceItem(store.table, { ...item, h }, unchanged(item), budget);
    return held ? { value: undefined } : undefined;
  });
};
