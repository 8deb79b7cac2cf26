import {
  chunked,
  type Item,
  mapConcurrent,
  type RequestBudget,
  readRange,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { fromItem } from '../codec/items.ts';
import { traceRange } from '../codec/keys.ts';
import { readStartEntries } from '../write/stored-starts.ts';

/** The ids of a call and its parent. */
export type Link = readonly [id: string, parentId: string];

/** Calls by id, with their depth below the nearest requested call. Requested calls have depth 0. */
export type Depths = Map<string, number>;

/** The number of traces read concurrently. */
const traceConcurrency = 4;
/** The number of calls from which a group is yielded. A trace is never split. */
const minGroupSize = 1000;

/** Calls with all their descendants. Links may be in any order and form cycles. */
export const withDescendants = (ids: readonly string[], links: readonly Link[]): Depths => {
  const children = Map.groupBy(links, ([, parentId]) => parentId);
  const depths: Depths = new Map(ids.map((id) => [id, 0]));
  // The loop also visits the calls that it adds, nearest first.
  for (const [parentId, depth] of depths) {
    for (const [id] of children.get(parentId) ?? []) if (!depths.has(id)) depths.set(id, depth + 1);
  }
  return depths;
};

/** What is known of the calls in some traces. */
interface Family {
  readonly links: Link[];
  /** The early traces of calls that have some. */
  readonly earlyTraces: Map<string, readonly string[]>;
}

/** Adds the calls of a trace to a family, as far as the trace's index is up to date. */
const readTrace = async (
  store: Store,
  projectId: ProjectId,
  traceId: string,
  { links, earlyTraces }: Family,
  budget: RequestBudget,
): Promise<void> => {
  const range = traceRange(projectId, traceId, {});
  const options = { toRow: (item: Item) => fromItem(store, projectId, item) };
  for await (const parts of readRange(store.table, range, options, budget))
    for (const { id, start, earlyTraces: traces } of parts) {
      if (start && start.parentId !== null) links.push([id, start.parentId]);
      if (traces) earlyTraces.set(id, traces);
    }
};

/** A call with its trace and its early traces. A call without a start has early ones alone. */
interface Root {
  readonly id: string;
  readonly traces: readonly string[];
}

/**
 * Finds calls with all their descendants in the calls' traces, and in the early traces of each
 * descendant. Each trace is read once.
 */
const readFamily = async (
  store: Store,
  projectId: ProjectId,
  roots: readonly Root[],
  budget: RequestBudget,
): Promise<Depths> => {
  const ids = roots.map(({ id }) => id);
  const family: Family = { links: [], earlyTraces: new Map() };
  const seen = new Set<string>();
  let found = withDescendants(ids, []);
  let unread = [...new Set(roots.flatMap(({ traces }) => traces))];
  while (unread.length > 0) {
    for (const trace of unread) seen.add(trace);
    await mapConcurrent(unread, traceConcurrency, (trace) =>
      readTrace(store, projectId, trace, family, budget),
    );
    found = withDescendants(ids, family.links);
    const early = [...found.keys()].flatMap((id) => family.earlyTraces.get(id) ?? []);
    unread = [...new Set(early)].filter((trace) => !seen.has(trace));
  }
  return found;
};

/**
 * Finds calls with all their descendants. Their traces are read from an index, which normally lags
 * some milliseconds. These are the traces of the calls, and the early ones of the calls and their
 * descendants. Ids of which nothing is stored are yielded as they are.
 *
 * @param ids without duplicates
 * @returns groups of about a thousand calls, more if a trace has more
 * @throws ServiceError 503, during iteration, when storage does not answer in time
 */
export async function* findDescendants(
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): AsyncGenerator<Depths> {
  const calls = ids.map((id) => ({ projectId, id }));
  const entries = await readStartEntries(store, calls, budget);
  const roots = entries.map(
    ({ id, start, earlyTraces = [] }): Root => ({
      id,
      traces: [...(start ? [start.traceId] : []), ...earlyTraces],
    }),
  );
  const traces = Map.groupBy(roots, ({ traces: [first] }) => first);
  const known = new Set(entries.map(({ id }) => id));
  let found: Depths = new Map(ids.filter((id) => !known.has(id)).map((id) => [id, 0]));
  for (const batch of chunked([...traces.values()], traceConcurrency)) {
    const families = await mapConcurrent(batch, traceConcurrency, (ofTrace) =>
      readFamily(store, projectId, ofTrace, budget),
    );
    // A call that was just moved may still appear in its former trace.
    for (const [id, depth] of families.flatMap((family) => [...family])) {
      found.set(id, Math.min(depth, found.get(id) ?? depth));
    }
    if (found.size < minGroupSize) continue;
    yield found;
    found = new Map();
  }
  if (found.size > 0) yield found;
}
