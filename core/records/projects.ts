import { allows, type Grant } from '../../foundations/auth/index.ts';
import { type Slice, sliceOf } from '../../foundations/listing/index.ts';
import {
  asBytes,
  asNumber,
  type Item,
  type RequestBudget,
  raiseNumber,
  readRange,
  requestBudget,
  type Table,
} from '../../foundations/storage/index.ts';
import type { TableKey, TableRange } from '../../foundations/storage/tables.ts';
import { formatTime, type ProjectId } from '../../foundations/wire/index.ts';

/*
 * Projects are noted in one partition of the rollups table, by name. No project's own partition
 * begins with its byte.
 */

const partition: Uint8Array = Buffer.of(1);
const nameOf = (project: string): Uint8Array => Buffer.from(project, 'utf8');

export const noteKey = (project: ProjectId): TableKey<'rollups'> => ({ k: partition, s: nameOf(project) });

/** The project of a note, out of its sort key. */
export const notedProject = (sortKey: Uint8Array): ProjectId =>
  Buffer.from(sortKey).toString('utf8') as ProjectId;

/** The notes of all projects, of one entity's (`acme/*`), or of one project, by name. */
export const notesRange = (scope: string): TableRange<'rollups'> => {
  if (scope === '*') return { partition: ['k', partition] };
  const wanted = scope.endsWith('/*') ? scope.slice(0, -1) : undefined;
  const [from, to] =
    wanted === undefined
      ? [nameOf(scope), nameOf(scope)]
      : [nameOf(wanted), Buffer.concat([nameOf(wanted), Buffer.of(0xff)])];
  return { partition: ['k', partition], sort: ['s', from, to] };
};

/** The longest that a note may take, in milliseconds. */
const noteMs = 2000;

/** The attribute with the time of the first report, in milliseconds since 1970. */
export const firstReported = 'f';

/**
 * Notes the projects that are written to, each once in the life of a container. Nobody waits for a
 * note, and a note that fails is made again at the next write: it is beside what is written.
 */
export class ProjectNotes {
  readonly #table: Table;
  readonly #noted = new Set<ProjectId>();

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Begins to note a project that is about to be written to, unless it has been or is being noted.
   * It never throws.
   */
  note(project: ProjectId): void {
    if (this.#noted.has(project)) return;
    this.#noted.add(project);
    const note = {
      ...{ key: noteKey(project), attribute: firstReported, value: Date.now() },
      onlyIfAbsent: true,
    };
    raiseNumber(this.#table, note, requestBudget(noteMs)).catch(() => this.#noted.delete(project));
  }
}

/** A project as it is answered. */
export type ProjectRow = {
  readonly project_id: ProjectId;
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
      for (const row of page) if (allows(grants, row.project_id, 'read')) rows.set(row.project_id, row);
  const sorted = [...rows.values()].sort((a, b) => (a.project_id < b.project_id ? -1 : 1));
  return sliceOf(sorted, slice);
};
