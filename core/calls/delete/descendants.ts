import { readRange } from '../../listing/index.ts';
import { chunked, type Item, mapConcurrent, type RequestBudget, type Store } from '../../storage/index.ts';
import type { ProjectId } from '../../wire/index.ts';
import { fromItem } from '../codec/items.ts';
import { traceRange } from '../codec/keys.ts';
import { readStarts } from '../write/replace-starts.ts';

/** A call and its parent, by their ids. */
export type Link = readonly [id: string, parentId: string];

/**
 * Calls by their ids, and how many steps each lies below the nearest call that was asked for: 0 for
 * that one itself.
 */
export type Depths = Map<string, number>;

/** How many traces are read at once. */
const traceConcurrency = 4;
/** As soon as this many calls are known they are handed on; one trace is never cut. */
const handedOn = 1000;

/**
 * Calls with all their descendants, however the links between them are ordered. Links may form
 * circles.
 */
export const withDescendants = (ids: readonly string[], links: readonly Link[]): Depths => {
  const children = Map.groupBy(links, ([, parentId]) => parentId);
  const depths: Depths = new Map(ids.map((id) => [id, 0]));
  // Those that are added on the way are met in their turn: the nearest first.
  for (const [parentId, depth] of depths) {
    for (const [id] of children.get(parentId) ?? []) if (!depths.has(id)) depths.set(id, depth + 1);
  }
  return depths;
};

/** The links of a trace, as far as its index has caught up. */
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
 * Finds calls with all their descendants, which are looked for in the calls' traces: each is read
 * once, from its index, which is normally some milliseconds behind. Ids without a start are given
 * as they are.
 *
 * @param ids each once
 * @returns groups of about a thousand calls, more where a trace has more
 * @throws ServiceError 503, while the groups are iterated, when storage does not give something in
 * time
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
  for (const some of chunked([...traces], traceConcurrency)) {
    const families = await mapConcurrent(some, traceConcurrency, async ([traceId, roots]) =>
      withDescendants(
        roots.map(({ id }) => id),
        await readLinks(store, projectId, traceId, budget),
      ),
    );
    // A call that has just been moved can still show in its former trace too.
    for (const [id, depth] of families.flatMap((family) => [...family])) {
      found.set(id, Math.min(depth, found.get(id) ?? depth));
    }
    if (found.size < handedOn) continue;
    yield found;
    found = new Map();
  }
  if (found.size > 0) yield found;
}
