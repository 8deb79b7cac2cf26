import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { type CallHeader, foldCall, readParts, type StoredPart } from '../../records/calls/index.ts';
import type { PartRow } from './scan.ts';

/**
 * Whether two rows are of one call: the same key but for its last byte, `S` or `E`. Most keys
 * differ within the time, their first bytes, so a native comparison would take longer.
 */
const isSameCall = ({ key: a }: PartRow, { key: b }: PartRow): boolean => {
  const last = a.length - 1;
  if (b.length - 1 !== last) return false;
  for (let i = 0; i < last; i++) if (a[i] !== b[i]) return false;
  return true;
};

/**
 * Joins rows into calls; a call's start and end are neighbours. An end without its start is
 * skipped: the call has moved. The table itself is asked for the end of a start without one. Either
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
  let last: PartRow | undefined;
  let group: StoredPart[] = [];
  for await (const batch of batches) {
    const groups: StoredPart[][] = [];
    for (const row of batch) {
      if (last && isSameCall(last, row)) group.push(row.part);
      else {
        if (last) groups.push(group);
        group = [row.part];
      }
      last = row;
    }
    if (groups.length > 0) yield await toHeaders(store, projectId, groups, budget);
  }
  if (last) yield await toHeaders(store, projectId, [group], budget);
}

const ended = (parts: readonly StoredPart[]): boolean => parts.some((part) => part.end !== null);

const toHeaders = async (
  store: Store,
  projectId: ProjectId,
  groups: readonly StoredPart[][],
  budget: RequestBudget,
): Promise<CallHeader[]> => {
  // A call that is moved while the ranges are read can be met in two places.
  const open = [...new Set(groups.flatMap((parts) => (ended(parts) ? [] : (parts[0]?.id ?? []))))];
  const ends =
    open.length > 0 ? await readParts(store, projectId, open, ['E'], budget, { consistent: false }) : [];
  const endOf = new Map(ends.map((end) => [end.id, end]));
  return groups.flatMap((parts) => {
    const [{ id } = { id: '' }] = parts;
    const end = ended(parts) ? undefined : endOf.get(id);
    return foldCall({ projectId, id }, end ? [...parts, end] : parts) ?? [];
  });
};
