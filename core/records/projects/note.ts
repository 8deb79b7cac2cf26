import { raiseNumber, requestBudget, type Table } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { noteKey } from './keys.ts';

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
