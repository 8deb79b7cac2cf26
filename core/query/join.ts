import { type CallHeader, foldHeader, readParts, type StoredPart } from '../calls/index.ts';
import type { RequestBudget, Store } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import type { PartRow } from './scan.ts';

/**
 * Whether two rows are of one call: the same id, and the same key but for its last byte, `S` or
 * `E`.
 */
const isSameCall = (a: PartRow, b: PartRow): boolean =>
  a.part.id === b.part.id && Buffer.compare(a.key.subarray(0, -1), b.key.subarray(0, -1)) === 0;

/**
 * Joins rows into calls; a call's start and end are neighbours. An end without its start is
 * skipped: the call has moved. The table itself is asked for the end of a start without one: either
 * the call is running, or its end came first and has no place in the index.
 *
 * @throws ServiceError 503 when storage does not give an end in time
 */
export async function* joinParts(
  store: Store,
  projectId: ProjectId,
  batches: AsyncIterable<readonly PartRow[]>,
  budget: RequestBudget,
): AsyncGenerator<CallHeader[]> {
  let group: PartRow[] = [];
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
