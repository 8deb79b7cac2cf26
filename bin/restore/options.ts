import { parseArgs } from 'node:util';
import { type ProjectId, parseProjectId, projectIdRule } from '../../core/wire/index.ts';
import { UsageError } from '../shared/usage-error.ts';

/** What is to be copied. */
export interface Order {
  /** The names of the tables. */
  readonly from: string;
  readonly to: string;
  /** Whether what is in the table already is replaced. */
  readonly replace: boolean;
  /** Whether nothing is written, only counted. */
  readonly dryRun: boolean;
  /** The one project whose items are copied; absent for all. */
  readonly project?: ProjectId;
}

export const help = `Copy the items of a restored table back into the service's own.

  npm run restore -- --from TABLE --to TABLE [--project ENTITY/PROJECT] [--replace] [--dry-run]

  --from TABLE      the table that point-in-time recovery made
  --to TABLE        the table of the service
  --project NAME    this project's items alone; else all
  --replace         replace what the service's table has under the same keys; else only what it lacks is written
  --dry-run         write nothing, and say how many items there are

Items that have expired are left out. It may be run again: what is there already is the same. Exit code: 0 done, 1 failed, 2 not understood.`;

const options = {
  from: { type: 'string' },
  to: { type: 'string' },
  project: { type: 'string' },
  replace: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
} as const;

/** parseArgs tells of an option that it does not know by a TypeError with a code of its own. */
const parsed = (args: string[]) => {
  try {
    return parseArgs({ args, options, strict: true }).values;
  } catch (error) {
    if (!(error instanceof TypeError && 'code' in error)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
};

/**
 * Understands a command line.
 *
 * @returns undefined where help is asked for
 * @throws UsageError where it cannot
 */
export const parseOrder = (argv: readonly string[]): Order | undefined => {
  if (argv.some((argument) => argument === '--help' || argument === '-h')) return undefined;
  const { from, to, project, replace, 'dry-run': dryRun } = parsed([...argv]);
  if (from === undefined || to === undefined) throw new UsageError('give both tables, --from and --to');
  if (from === to) throw new UsageError('--from and --to are the same table');
  const projectId = project === undefined ? undefined : parseProjectId(project);
  if (project !== undefined && projectId === undefined)
    throw new UsageError(`--project ${project}: ${projectIdRule}`);
  return { from, to, replace, dryRun, ...(projectId !== undefined && { project: projectId }) };
};
