import { mapConcurrent, type RequestBudget, type Store } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { type CallHeader, readParts, traceRange } from '../../records/calls/index.ts';
import { joinParts, scanParts } from '../query/index.ts';
import { findRoots, type RootsPlan } from './find-roots.ts';

/** Which calls are to be read with all below them, checked. */
export interface FamiliesRequest {
  readonly projectId: ProjectId;
  /** Each once. */
  readonly callIds: readonly string[];
  /** The traces in which the calls are, as far as they are known, each once. */
  readonly traceIds: readonly string[];
}

/** How the traces of calls were found: plain data, logged with the request. */
export interface UsagePlan {
  /** How many traces the request names. */
  readonly named: number;
  /** What was read of the roots of a time, for calls in none of these; null if none were left. */
  readonly roots: RootsPlan | null;
  /** How many calls were looked up by their ids. */
  readonly lookedUp: number;
}

/** How many traces are read at once. */
const traceConcurrency = 16;
/** Rows to ask for at first: most traces are smaller. */
const firstPage = 256;

const readTrace = async (
  store: Store,
  projectId: ProjectId,
  traceId: string,
  budget: RequestBudget,
): Promise<CallHeader[]> => {
  const range = traceRange(projectId, traceId, {});
  const rows = scanParts(store, projectId, [range], { descending: false, firstPage }, budget);
  const batches = await Array.fromAsync(joinParts(store, projectId, rows, budget));
  return batches.flat();
};

/** What was read of some traces: calls by id, and the ids of the calls below each. */
export class Families {
  readonly byId = new Map<string, CallHeader>();
  readonly #children = new Map<string, Set<string>>();
  readonly #read = new Set<string>();

  /** Reads traces that were not read yet. */
  async read(
    store: Store,
    projectId: ProjectId,
    traces: Iterable<string>,
    budget: RequestBudget,
  ): Promise<void> {
    const unread = [...new Set(traces)].filter((trace) => !this.#read.has(trace));
    for (const trace of unread) this.#read.add(trace);
    const found = await mapConcurrent(unread, traceConcurrency, (trace) =>
      readTrace(store, projectId, trace, budget),
    );
    for (const header of found.flat()) this.#add(header);
  }

  /** A call with all calls below it that were read. Parents may form cycles. */
  of(id: string): CallHeader[] {
    const met = new Set([id]);
    for (const parent of met)
      for (const child of this.#children.get(parent) ?? [])
        if (this.byId.get(child)?.start.parentId === parent) met.add(child);
    return [...met].flatMap((member) => this.byId.get(member) ?? []);
  }

  /** The traces of calls below these that are in another trace than their parents. */
  earlyTraces(ids: readonly string[]): Set<string> {
    const early = new Set<string>();
    for (const id of ids)
      for (const { earlyTraces = [] } of this.of(id))
        for (const trace of earlyTraces) if (!this.#read.has(trace)) early.add(trace);
    return early;
  }

  #add(header: CallHeader): void {
    // A call that was just moved may still appear in its former trace, below its former parent.
    this.byId.set(header.id, header);
    const { parentId } = header.start;
    if (parentId === null) return;
    const siblings = this.#children.get(parentId) ?? new Set();
    this.#children.set(parentId, siblings);
    siblings.add(header.id);
  }
}

/** The traces of calls by their ids, as the table has them. */
const lookUpTraces = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<string[]> => {
  const starts = await readParts(store, projectId, ids, ['S'], budget, { consistent: false });
  return starts.flatMap(({ start }) => start?.traceId ?? []);
};

/**
 * Reads calls with all below them. It reads the traces that are given, those of calls that are not
 * in them, and those of calls apart from their parents. Roots are looked for by the times in their
 * ids first, if that may be cheaper. Every call that is then still missing is looked up.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readFamilies = async (
  store: Store,
  { projectId, callIds, traceIds }: FamiliesRequest,
  budget: RequestBudget,
): Promise<{ readonly families: Families; readonly plan: UsagePlan }> => {
  const families = new Families();
  const missing = () => callIds.filter((id) => !families.byId.has(id));
  await families.read(store, projectId, traceIds, budget);
  const unnamed = missing();
  const roots = unnamed.length > 0 ? await findRoots(store, projectId, unnamed, budget) : null;
  if (roots) await families.read(store, projectId, roots.traces, budget);
  const left = missing();
  if (left.length > 0)
    await families.read(store, projectId, await lookUpTraces(store, projectId, left, budget), budget);
  for (let early = families.earlyTraces(callIds); early.size > 0; early = families.earlyTraces(callIds))
    await families.read(store, projectId, early, budget);
  const plan = { named: traceIds.length, roots: roots?.plan ?? null, lookedUp: left.length };
  return { families, plan };
};
