import type { TableKey, TableRange } from '../../foundations/storage/declared-keys.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';

/*
 * Projects are noted in one partition of the rollups table, by name. No project's own partition
 * begins with its byte.
 */

const partition: Uint8Array = Buffer.of(1);
const nameOf = (project: string): Uint8Array => Buffer.from(project, 'utf8');

/** The key of a project's note. */
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
