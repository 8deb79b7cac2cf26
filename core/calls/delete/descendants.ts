import { readRange } from '../../listing/index.ts';
import { chunked, type Item, mapConcurrent, type RequestBudget, type Store } from '../../storage/index.ts';
import type { ProjectId } from '../../wire/index.ts';
import { fromItem } from '../codec/items.ts';
import { traceRange } from '../codec/keys.ts';
import { readStarts } from '../write/replace-starts.ts';

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

/** The links of a trace, as far as its index is up to date. */
const readLinks = async (
  store: Store,
  projectId: ProjectId,
  traceId: string,
  budget: RequestBudget,
): Promise<Link[]> => {
  const range = traceRange(projectId, traceId, {});
  const options = { toRow: (item: Item) => fromItem(store, projectId, item) };
  const links: Link[] = [];
  for await (const parts of readRange(store.table, range, options, budget))
    for (const { id, start } of parts) if (start && start.parentId !== null) links.push([id, start.parentId]);
  return links;
};

/**
 * Finds calls with all their descendants in the calls' traces. Each trace is read once from its
 * index, which normally lags some milliseconds. Ids without a start are yielded as they are.
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
  const starts = await readStarts(store, calls, budget);
  const traces = Map.groupBy(starts, ({ start }) => start.traceId);
  const started = new Set(starts.map(({ id }) => id));
  let found: Depths = new Map(ids.filter((id) => !started.has(id)).map((id) => [id, 0]));
  for (const batch of chunked([...traces], traceConcurrency)) {
    const families = await mapConcurrent(batch, traceConcurrency, async ([traceId, roots]) =>
      withDescendants(
        roots.map(({ id }) => id),
        await readLinks(store, projectId, traceId, budget),
      ),
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
