import { type CallHeader, foldHeader, readParts, type StoredPart } from '../calls/index.ts';
import type { RequestBudget, Store } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import type { Row } from './scan.ts';

/**
 * Whether two rows are of one call: the same key but for the part that it ends in, and the same id.
 */
const isSameCall = (a: Row, b: Row): boolean =>
  a.part.id === b.part.id && Buffer.compare(a.key.subarray(0, -1), b.key.subarray(0, -1)) === 0;

/**
 * Joins the rows of starts and ends, which lie side by side, into calls. An end without its start
 * is skipped: its place is a stale one. A start without an end is of a call that still batches, or
 * whose end came first and has no place in the index: the table itself is asked.
 *
 * @throws ServiceError 503 when storage does not give an end in time
 */
export async function* joinParts(
  store: Store,
  projectId: ProjectId,
  batches: AsyncIterable<Row[]>,
  budget: RequestBudget,
): AsyncGenerator<CallHeader[]> {
  let group: Row[] = [];
  for await (const batch of batches) {
    const groups: StoredPart[][] = [];
    for (const row of batch) {
      const [first] = group;
      if (first && !isSameCall(first, row)) {
        groups.push(group.map(({ part }) => part));
        group = [];
      }
      group.push(row);
    }
    if (groups.length > 0) yield await toHeaders(store, projectId, groups, budget);
  }
  if (group.length > 0) yield await toHeaders(store, projectId, [group.map(({ part }) => part)], budget);
}

const toHeaders = async (
  store: Store,
  projectId: ProjectId,
  groups: readonly StoredPart[][],
  budget: RequestBudget,
): Promise<CallHeader[]> => {
  const ended = (parts: StoredPart[]): boolean => parts.some((part) => part.end !== null);
  // A call that is moved while the ranges are read can be met in two places.
  const open = [...new Set(groups.flatMap((parts) => (ended(parts) ? [] : (parts[0]?.id ?? []))))];
  const ends =
    open.length > 0 ? await readParts(store, projectId, open, ['E'], budget, { consistent: false }) : [];
  const endOf = new Map(ends.map((end) => [end.id, end]));
  return groups.flatMap((parts) => {
    const [{ id } = { id: '' }] = parts;
    const end = ended(parts) ? undefined : endOf.get(id);
    return foldHeader({ projectId, id }, end ? [...parts, end] : parts) ?? [];
  });
};
