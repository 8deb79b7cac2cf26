import {
  compareAndSwapAll,
  expiry,
  type Item,
  insertItems,
  mapConcurrent,
  type RequestBudget,
  replaceItem,
  type Store,
} from '../../../foundations/storage/index.ts';
import { deriveId, type ProjectId, qualifiedId } from '../../../foundations/wire/index.ts';
import { packHeader } from './header.ts';
import { keyText, readStartEntries, type StartEntry, startKey, toCallKey, unchanged } from './items.ts';
import type { CallStart } from './model.ts';
import type { ReportedCall } from './reports.ts';

/**
 * Resolves the trace of every start in the request. It is the start's own, else the one that it was
 * stored with, else its parent's from the request or storage. Else it is the one that earlier calls
 * reserved for an unknown parent, or for the start or its topmost ancestor. Else it is a new one. A
 * new one derives from the first ancestor's project, id and start, so that concurrent copies of a
 * request agree.
 *
 * @param storedTraces the traces of stored starts, by {@link toCallKey}
 * @param reservedTraces the traces that are reserved for calls without a stored start, likewise
 * @returns the traces of all starts, and of their unknown parents, by {@link toCallKey}
 */
export const resolveTraces = (
  calls: readonly ReportedCall[],
  storedTraces: ReadonlyMap<string, string>,
  reservedTraces: ReadonlyMap<string, string> = new Map(),
): Map<string, string> => {
  const starts = new Map(calls.flatMap((call) => (call.start ? [[toCallKey(call), call.start]] : [])));
  const traces = new Map<string, string>();
  const resolve = (firstName: string): void => {
    // Follows the parents until a trace is known; a cycle ends the walk too.
    const chain = new Map<string, CallStart>();
    let name = firstName;
    let trace: string | undefined;
    for (;;) {
      const start = starts.get(name);
      trace = traces.get(name) ?? start?.traceId ?? storedTraces.get(name);
      if (start === undefined) trace ??= reservedTraces.get(name);
      if (trace !== undefined || start === undefined || chain.has(name)) break;
      chain.set(name, start);
      if (start.parentId === null) break;
      name = qualifiedId(start.projectId, start.parentId);
    }
    const [ancestor, start] = [...chain].at(-1) ?? [];
    const reserved = [...chain.keys()].findLast((member) => reservedTraces.has(member));
    trace ??= reserved === undefined ? undefined : reservedTraces.get(reserved);
    if (trace === undefined && ancestor !== undefined && start) trace = deriveId(start.startedAt, ancestor);
    // The last name is the one whose trace was taken, or an unknown parent: its children share one.
    for (const member of [firstName, ...chain.keys(), name])
      if (trace !== undefined) traces.set(member, trace);
  };
  for (const name of starts.keys()) resolve(name);
  return traces;
};

/** The traces of stored starts, and those that are reserved for others, by {@link toCallKey}. */
const knownTraces = (
  stored: ReadonlyMap<string, StartEntry>,
): [stored: Map<string, string>, reserved: Map<string, string>] => {
  const known = [...stored].map(([name, { start, earlyTraces }]) => [name, start, earlyTraces] as const);
  return [
    new Map(known.flatMap(([name, start]) => (start ? [[name, start.traceId]] : []))),
    new Map(known.flatMap(([name, start, traces]) => (!start && traces?.[0] ? [[name, traces[0]]] : []))),
  ];
};

/**
 * Resolves the traces of a request and reserves those that have to be. A parent that came since the
 * request looked for it gives its trace after all.
 *
 * @param stored what is stored of the calls that the request depends on, by {@link toCallKey}.
 * Parents that came meanwhile are added.
 * @returns the traces of all starts, by {@link toCallKey}
 * @throws ServiceError 503 when storage does not accept the reservations in time
 */
export const settleTraces = async (
  store: Store,
  calls: readonly ReportedCall[],
  stored: Map<string, StartEntry>,
  budget: RequestBudget,
): Promise<Map<string, string>> => {
  for (;;) {
    const traces = resolveTraces(calls, ...knownTraces(stored));
    const reservations = findReservations(calls, stored, traces);
    const met = await reserveTraces(store, reservations, budget, (name) => stored.has(name));
    if (met.length === 0) return traces;
    for (const entry of met) stored.set(toCallKey(entry), entry);
  }
};

/*
 * A start without a trace whose parent is not known yet gets a trace. Its parent may get another,
 * since it may name its own. So that the two find each other, the trace is reserved under the
 * parent's key and under the turn's. Reservations are items of starts without a start. The start
 * takes the place of its reservation and keeps the traces that are not its own. If the reservation
 * finds its place taken, the child takes the trace that is there after all. A start that keeps
 * its stored trace, and now has a parent in another one, is noted at that parent likewise.
 */

/** The number of reservations and starts changed concurrently. */
const concurrency = 8;

/**
 * The traces that a call keeps for its turn. Each takes 18 bytes of its index rows. With as many,
 * calls of the turn are looked for in the whole project.
 */
export const maxTurnTraces = 64;

/** A call that is not known yet, or may not be, and traces with calls that belong to it. */
interface Reservation {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly traces: readonly string[];
  /** Whether the calls name it as their parent, and not only as their turn. */
  readonly isParent: boolean;
}

/**
 * What a request has to reserve: the traces of starts that name no trace, but a parent. That parent
 * is not known, or is in another trace. They are reserved under it, and under the turns of all
 * calls that then are in that trace.
 *
 * @param stored what is stored of the calls that the request depends on, by {@link toCallKey}
 * @param traces the trace of every start in the request, by {@link toCallKey}
 */
export const findReservations = (
  calls: readonly ReportedCall[],
  stored: ReadonlyMap<string, StartEntry>,
  traces: ReadonlyMap<string, string>,
): Reservation[] => {
  const inRequest = new Set(calls.filter(({ start }) => start).map(toCallKey));
  const found = new Map<string, Reservation>();
  const reserve = (projectId: ProjectId, id: string, trace: string, isParent: boolean): void => {
    const name = qualifiedId(projectId, id);
    if (traces.get(name) === trace && inRequest.has(name)) return;
    if (stored.get(name)?.earlyTraces?.includes(trace)) return;
    const before = found.get(name);
    found.set(name, {
      projectId,
      id,
      traces: [...new Set([...(before?.traces ?? []), trace])],
      isParent: isParent || before?.isParent === true,
    });
  };
  const orphans = new Set<string>();
  for (const call of calls) {
    const { projectId, start } = call;
    const trace = traces.get(toCallKey(call));
    if (trace === undefined || !start || start.traceId !== null || start.parentId === null) continue;
    const parent = qualifiedId(projectId, start.parentId);
    const ofParent = inRequest.has(parent) ? traces.get(parent) : stored.get(parent)?.start?.traceId;
    if (ofParent === trace) continue;
    orphans.add(qualifiedId(projectId, trace));
    reserve(projectId, start.parentId, trace, true);
  }
  for (const call of calls) {
    const { projectId, id, start } = call;
    const trace = traces.get(toCallKey(call));
    if (trace === undefined || !start?.turnId || start.turnId === id || start.traceId !== null) continue;
    if (orphans.has(qualifiedId(projectId, trace))) reserve(projectId, start.turnId, trace, false);
  }
  return [...found.values()];
};

/**
 * Stores reservations. A call that is stored already, or has reservations, keeps the new traces
 * beside what it has. It is done before the starts are stored, so that no start is ever without.
 *
 * @param isKnown whether the request has met what is stored of a parent, by {@link toCallKey}. A
 * parent that it has not met, and that has a trace, stays as it is. @default - it has met all
 * @returns these parents
 * @throws ServiceError 503 when storage does not accept them in time
 */
export const reserveTraces = async (
  store: Store,
  reservations: readonly Reservation[],
  budget: RequestBudget,
  isKnown: (name: string) => boolean = () => true,
): Promise<StartEntry[]> => {
  const met: StartEntry[] = [];
  const items = new Map(reservations.map((reservation) => [toItem(store, reservation), reservation]));
  const taken = new Set(await insertItems(store.table, [...items.keys()], budget));
  const left = [...items].filter(([item]) => taken.has(item)).map(([item, other]) => ({ ...other, item }));
  await compareAndSwapAll(budget, left, async (some) => {
    const entries = await readStartEntries(store, some, budget);
    const stored = new Map(entries.map((entry) => [keyText(entry.item), entry]));
    const done = await mapConcurrent(some, concurrency, ({ item, ...reservation }) => {
      const before = stored.get(keyText(item));
      if (!before) return replaceItem(store.table, item, { k: undefined }, budget);
      if (reservation.isParent && hasTrace(before) && !isKnown(toCallKey(before))) {
        met.push(before);
        return Promise.resolve(true);
      }
      return extend(store, before, reservation, budget);
    });
    return some.filter((_, i) => !done[i]);
  });
  return met;
};

/** Whether there is a trace for the children of a call: its own, or one that is reserved. */
const hasTrace = ({ start, earlyTraces = [] }: StartEntry): boolean =>
  start !== null || earlyTraces.length > 0;

const toItem = (store: Store, { projectId, id, traces }: Reservation): Item => ({
  ...startKey(projectId, id),
  h: packHeader({ start: null, end: null, earlyTraces: traces }, { projectId, id }),
  ...expiry(store, projectId),
});

/** Adds traces to what is stored. Returns false if that has changed. */
const extend = (
  store: Store,
  { item, projectId, id, start, end, earlyTraces = [] }: StartEntry,
  { traces, isParent }: Reservation,
  budget: RequestBudget,
): Promise<boolean> => {
  const missing = traces.filter((trace) => trace !== start?.traceId && !earlyTraces.includes(trace));
  const isFull = !isParent && earlyTraces.length >= maxTurnTraces;
  if (missing.length === 0 || isFull) return Promise.resolve(true);
  const header = { start, end, earlyTraces: [...earlyTraces, ...missing] };
  const h = packHeader(header, { projectId, id });
  return replaceItem(store.table, { ...item, h }, unchanged(item), budget);
};
