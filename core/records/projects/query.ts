import { allows, type Grant } from '../../foundations/auth/index.ts';
import { type Slice, sliceOf } from '../../foundations/listing/index.ts';
import {
  asBytes,
  asNumber,
  type Item,
  type RequestBudget,
  readRange,
  type Table,
} from '../../foundations/storage/index.ts';
import { formatTime } from '../../foundations/wire/index.ts';
import { notedProject, notesRange } from './keys.ts';
import { firstReported } from './note.ts';

/** A project as it is answered. */
export type ProjectRow = {
  readonly project_id: string;
  /** When it was first written to, as text. */
  readonly first_reported_at: string;
};

const toRow = (item: Item): ProjectRow => {
  const [name, first] = [asBytes(item.s), asNumber(item[firstReported])];
  if (!name || first === undefined) throw new Error('the note of a project is damaged');
  return { project_id: notedProject(name), first_reported_at: formatTime(first * 1000) };
};

const readable = (grants: readonly Grant[]): string[] => {
  const scopes = grants.filter(({ role }) => role !== 'inference').map(({ scope }) => scope);
  return scopes.includes('*') ? ['*'] : [...new Set<string>(scopes)];
};

/** Whether any of the grants allows reading anything. */
export const readsAnything = (grants: readonly Grant[]): boolean => readable(grants).length > 0;

/**
 * Lists the projects that have ever been written to and that grants allow to read, by name. It
 * reads what the grants name and no more.
 *
 * @throws ServiceError 503 when storage does not give them in time
 */
export const queryProjects = async (
  table: Table,
  grants: readonly Grant[],
  slice: Slice,
  budget: RequestBudget,
): Promise<ProjectRow[]> => {
  const rows = new Map<string, ProjectRow>();
  for (const scope of readable(grants))
    for await (const page of readRange(table, notesRange(scope), { toRow, consistent: true }, budget))
      for (const row of page)
        if (allows(grants, row.project_id as Parameters<typeof allows>[1], 'read'))
          rows.set(row.project_id, row);
  const sorted = [...rows.values()].sort((a, b) => (a.project_id < b.project_id ? -1 : 1));
  return sliceOf(sorted, slice);
};
