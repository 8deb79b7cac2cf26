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
import { type ProjectId, qualifiedId } from '../../../foundations/wire/index.ts';
import { packHeader } from '../codec/header.ts';
import type { StartEntry } from '../codec/items.ts';
import { startKey } from '../codec/keys.ts';
import type { ReportedCall } from './group-reports.ts';
import { keyText, readStartEntries, unchanged } from './stored-starts.ts';

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
export interface Reservation {
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
 * @param stored what is stored of the calls that the request depends on, by {@link qualifiedId}
 * @param traces the trace of every start in the request, by {@link qualifiedId}
 */
export const reservationsOf = (
  calls: readonly ReportedCall[],
  stored: ReadonlyMap<string, StartEntry>,
  traces: ReadonlyMap<string, string>,
): Reservation[] => {
  const inRequest = new Set(calls.filter(({ start }) => start).map(nameOf));
  const found = new Map<string, Reservation>();
  const reserve = (projectId: ProjectId, id: string, trace: string, isParent: boolean): void => {
    const name = qualifiedId(projectId, id);
    if (traces.get(name) === trace && inRequest.has(name)) return;
    if (stored.get(name)?.earlyTraces?.includes(trace)) return;
    const before = found.get(name);
    found.set(name, {
      ...{ projectId, id },
      traces: [...new Set([...(before?.traces ?? []), trace])],
      isParent: isParent || before?.isParent === true,
    });
  };
  const orphans = new Set<string>();
  for (const call of calls) {
    const { projectId, start } = call;
    const trace = traces.get(nameOf(call));
    if (trace === undefined || !start || start.traceId !== null || start.parentId === null) continue;
    const parent = qualifiedId(projectId, start.parentId);
    const ofParent = inRequest.has(parent) ? traces.get(parent) : stored.get(parent)?.start?.traceId;
    if (ofParent === trace) continue;
    orphans.add(qualifiedId(projectId, trace));
    reserve(projectId, start.parentId, trace, true);
  }
  for (const call of calls) {
    const { projectId, id, start } = call;
    const trace = traces.get(nameOf(call));
    if (trace === undefined || !start?.turnId || start.turnId === id || start.traceId !== null) continue;
    if (orphans.has(qualifiedId(projectId, trace))) reserve(projectId, start.turnId, trace, false);
  }
  return [...found.values()];
};

/**
 * Stores reservations. A call that is stored already, or has reservations, keeps the new traces
 * beside what it has. It is done before the starts are stored, so that no start is ever without.
 *
 * @param isKnown whether the request has met what is stored of a parent, by {@link qualifiedId}. A
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
  const items = new Map(reservations.map((reservation) => [itemOf(store, reservation), reservation]));
  const taken = new Set(await insertItems(store.table, [...items.keys()], budget));
  const left = [...items].filter(([item]) => taken.has(item)).map(([item, other]) => ({ ...other, item }));
  await compareAndSwapAll(budget, left, async (some) => {
    const entries = await readStartEntries(store, some, budget);
    const stored = new Map(entries.map((entry) => [keyText(entry.item), entry]));
    const done = await mapConcurrent(some, concurrency, ({ item, ...reservation }) => {
      const before = stored.get(keyText(item));
      if (!before) return replaceItem(store.table, item, { k: undefined }, budget);
      if (reservation.isParent && hasTrace(before) && !isKnown(nameOf(before))) {
        met.push(before);
        return Promise.resolve(true);
      }
      return extend(store, before, reservation, budget);
    });
    return some.filter((_, i) => !done[i]);
  });
  return met;
};

const nameOf = ({ projectId, id }: Pick<StartEntry, 'projectId' | 'id'>): string =>
  qualifiedId(projectId, id);

/** Whether there is a trace for the children of a call: its own, or one that is reserved. */
const hasTrace = ({ start, earlyTraces = [] }: StartEntry): boolean =>
  start !== null || earlyTraces.length > 0;

const itemOf = (store: Store, { projectId, id, traces }: Reservation): Item => ({
  ...startKey(projectId, id),
  h: packHeader({ start: null, end: null, earlyTraces: traces }, { projectId, id, names: store.names }),
  ...expiry(store),
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
  const h = packHeader(header, { projectId, id, names: store.names });
  return replaceItem(store.table, { ...item, h }, unchanged(item), budget);
};
