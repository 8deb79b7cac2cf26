import {
  compareAndSwapAll,
  type Item,
  mapConcurrent,
  type RequestBudget,
  readRange,
  replaceItem,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { HourMarks } from '../rollups.ts';
import { fitsHeader } from './header.ts';
import {
  awaitedFlag,
  type CallName,
  fromItem,
  hasStart,
  isAwaited,
  keyText,
  meetingKey,
  readStartEntries,
  type StartItem,
  startKey,
  toCallKey,
  traceRange,
  unchanged,
  withPlace,
} from './items.ts';
import type { CallStart, SpanRole, StartHeader } from './model.ts';
import { putNotes, readNotes, textDigest } from './notes.ts';
import { placeholder, withUser } from './replace.ts';

/*
 * Spans of a trace may come in many requests, and only all of them together tell in which thread and turn
 * each is, and of which user. So a request that does not have the parent of one of its spans leaves what
 * it has in a partition of the trace, and reads what others have left there. It also leaves a flag under
 * the parent's key: whoever brings the parent comes to the meeting too. Everybody writes before they look.
 */

/** A trace by its project and id. */
export interface TraceName {
  readonly projectId: ProjectId;
  readonly traceId: string;
}

/** What is known of a span of a trace. */
export interface SpanOfTrace {
  readonly id: string;
  readonly parentId: string | null;
  readonly span: SpanRole;
  /** The user that it names itself. */
  readonly userId: string | null;
}

/** The thread, the turn and the user of a call. */
export interface CallPlace {
  readonly threadId: string | null;
  readonly turnId: string | null;
  readonly userId: string | null;
}

/** The most spans of a trace that are looked at together. */
const maxSpans = 10_000;
const digestLength = 16;
const concurrency = 8;

/** The user that a span names, as others may have it from there. */
const ownUser = (user: unknown): string | null =>
  typeof user === 'string' && user !== '' && fitsHeader(user) ? user : null;

/** What a span's start says of its place in its trace; undefined if it is no span's. */
export const spanOfStart = ({ id, parentId, span, attributes }: CallStart): SpanOfTrace | undefined => {
  if (!span || id === null) return undefined;
  const { user } = attributes;
  const userId = typeof user === 'object' && user !== null && 'id' in user ? ownUser(user.id) : null;
  return { id, parentId, span, userId };
};

const spanOfHeader = (id: string, { parentId, span, attributes }: StartHeader): SpanOfTrace | undefined =>
  span && { id, parentId, span, userId: span.givenUser === null ? ownUser(attributes['user.id']) : null };

const placeOfHeader = ({ threadId, turnId, attributes }: StartHeader): CallPlace => ({
  threadId,
  turnId,
  userId: ownUser(attributes['user.id']),
});

/** A span as it is left for others: ids as they are, flags, and the places of its thread and user. */
type LeftSpan = readonly [id: string, parentId: string | null, flags: number, thread: number, user: number];

interface LeftSpans {
  readonly names: readonly string[];
  readonly spans: readonly LeftSpan[];
}

const isRun = 1;
const isPlain = 2;
const isRemote = 4;
const pauses = 8;

const toLeft = (spans: readonly SpanOfTrace[]): LeftSpans => {
  const places = new Map<string, number>();
  const numberPlace = (name: string | null): number => {
    if (name === null) return -1;
    const place = places.get(name) ?? places.size;
    places.set(name, place);
    return place;
  };
  const left = spans.map(({ id, parentId, span, userId }): LeftSpan => {
    const flags =
      (span.isRun ? isRun : 0) |
      (span.isPlain ? isPlain : 0) |
      (span.hasRemoteParent ? isRemote : 0) |
      (span.pauses ? pauses : 0);
    return [id, parentId, flags, numberPlace(span.threadId), numberPlace(userId)];
  });
  return { names: [...places.keys()], spans: left };
};

const fromLeft = ({ names, spans }: LeftSpans): SpanOfTrace[] =>
  spans.map(([id, parentId, flags, thread, user]) => ({
    id,
    parentId,
    span: {
      isRun: (flags & isRun) !== 0,
      isPlain: (flags & isPlain) !== 0,
      hasRemoteParent: (flags & isRemote) !== 0,
      pauses: (flags & pauses) !== 0,
      threadId: names[thread] ?? null,
      givenUser: null,
    },
    userId: names[user] ?? null,
  }));

/**
 * Leaves what a request has of a trace's spans. The same spans are left once.
 *
 * @returns false if they are too many for a note; nothing is left then
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const leaveSpans = async (
  store: Store,
  { projectId, traceId }: TraceName,
  spans: readonly SpanOfTrace[],
  budget: RequestBudget,
): Promise<boolean> => {
  const text = JSON.stringify(toLeft(spans));
  const p = `M ${textDigest(text, digestLength)}`;
  const note = { projectId, key: { k: meetingKey(projectId, traceId), p }, text };
  return (await putNotes(store, [note], budget)).length === 0;
};

/**
 * Reads what requests have left of a trace's spans, strongly consistent.
 *
 * @returns undefined for more spans than are looked at together
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readLeftSpans = async (
  store: Store,
  { projectId, traceId }: TraceName,
  budget: RequestBudget,
): Promise<Map<string, SpanOfTrace> | undefined> => {
  const found = new Map<string, SpanOfTrace>();
  for await (const { text } of readNotes(store, meetingKey(projectId, traceId), budget)) {
    for (const span of fromLeft(JSON.parse(text) as LeftSpans)) found.set(span.id, span);
    if (found.size > maxSpans) return undefined;
  }
  return found;
};

/**
 * Flags calls that are not stored yet as awaited.
 *
 * @param calls without duplicates
 * @returns those that are stored
 * @throws ServiceError 503 when storage does not answer in time
 */
export const awaitStarts = async (
  store: Store,
  calls: readonly CallName[],
  budget: RequestBudget,
): Promise<StoredSpan[]> => {
  const stored: StoredSpan[] = [];
  await compareAndSwapAll(budget, calls, async (left) => {
    const entries = await readStartEntries(store, left, budget);
    const found = new Map(entries.map((entry) => [toCallKey(entry), entry]));
    const done = await mapConcurrent(left, concurrency, async (call) => {
      const entry = found.get(toCallKey(call));
      if (!entry) {
        const item = { ...placeholder(store, call), ...awaitedFlag };
        return replaceItem(store.table, item, { k: undefined }, budget);
      }
      if (hasStart(entry)) {
        stored.push(...storedSpan(entry.id, entry.start));
        return true;
      }
      if (isAwaited(entry.item)) return true;
      return replaceItem(store.table, { ...entry.item, ...awaitedFlag }, unchanged(entry.item), budget);
    });
    return left.filter((_, i) => !done[i]);
  });
  return stored;
};

/** A span's call as it is stored, and where. */
export interface StoredSpan {
  readonly span: SpanOfTrace;
  readonly place: CallPlace;
}

const storedSpan = (id: string, start: StartHeader): StoredSpan[] => {
  const span = spanOfHeader(id, start);
  return span ? [{ span, place: placeOfHeader(start) }] : [];
};

/**
 * Reads the spans of a trace that are stored, as far as its index is up to date.
 *
 * @returns undefined for more spans than are looked at together
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readStoredSpans = async (
  store: Store,
  { projectId, traceId }: TraceName,
  budget: RequestBudget,
): Promise<StoredSpan[] | undefined> => {
  const found: StoredSpan[] = [];
  const options = { toRow: (item: Item) => fromItem(projectId, item) };
  for await (const parts of readRange(store.table, traceRange(projectId, traceId, {}), options, budget)) {
    for (const { id, start } of parts) if (start) found.push(...storedSpan(id, start));
    if (found.length > maxSpans) return undefined;
  }
  return found;
};

/**
 * Gives stored calls of spans another thread, turn or user. A report that comes in between stays. Calls
 * that are not stored are passed over: who stores them looks again.
 *
 * @param places by the ids of calls
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const placeCalls = async (
  store: Store,
  { projectId, traceId }: TraceName,
  places: ReadonlyMap<string, CallPlace>,
  budget: RequestBudget,
): Promise<void> => {
  const calls = Array.from(places, ([id, place]) => ({ projectId, id, place }));
  const marks = new HourMarks(store, budget);
  await compareAndSwapAll(budget, calls, async (left) => {
    const entries = await readStartEntries(store, left, budget);
    const found = new Map(entries.filter(hasStart).map((entry) => [keyText(entry.item), entry]));
    const done = await mapConcurrent(left, concurrency, async ({ id, place }) => {
      const stored = found.get(keyText(startKey(projectId, id)));
      const start = stored && placedStart(stored, place, traceId);
      if (!stored || !start) return true;
      await marks.mark(projectId, [{ startedAt: start.startedAt }]);
      return replaceItem(store.table, withPlace(store, stored, start), unchanged(stored.item), budget);
    });
    return left.filter((_, i) => !done[i]);
  });
};

/** A stored start in its place; undefined if it is there already, or is not a span of the trace. */
const placedStart = (
  { start }: StartItem,
  { threadId, turnId, userId }: CallPlace,
  traceId: string,
): StartHeader | undefined => {
  if (!start.span || start.traceId !== traceId) return undefined;
  const placed = withUser({ ...start, threadId, turnId }, userId);
  const isThere = start.threadId === threadId && start.turnId === turnId && placed.span === start.span;
  return isThere ? undefined : placed;
};
