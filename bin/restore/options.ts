import { type ProjectId, parseProjectId, projectIdRule } from '../../core/foundations/wire/index.ts';
import { parseFlags } from '../common/parse-flags.ts';
import { UsageError } from '../common/usage-error.ts';

export interface RestoreOptions {
  /** The names of the tables. */
  readonly from: string;
  readonly to: string;
  /** Whether existing items are replaced. */
  readonly replace: boolean;
  /** Whether items are only counted. */
  readonly dryRun: boolean;
  /** The only project whose items are copied; absent for all. */
  readonly project?: ProjectId;
}

export const help = `Copy the items of a restored table back into the service's own.

  npm run restore -- --from TABLE --to TABLE [--project ENTITY/PROJECT] [--replace] [--dry-run]

  --from TABLE      the table that point-in-time recovery made
  --to TABLE        the table of the service
  --project NAME    only this project's items (default: all)
  --replace         replace items with the same keys (default: only add missing items)
  --dry-run         only count the items

Expired items are left out. The command can be repeated. Exit code: 0 done, 1 failed, 2 wrong usage.`;

const options = {
  from: { type: 'string' },
  to: { type: 'string' },
  project: { type: 'string' },
  replace: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
} as const;

/**
 * Parses a command line.
 *
 * @returns undefined if help is requested
 * @throws UsageError if an argument is wrong
 */
export const parseOptions = (argv: readonly string[]): RestoreOptions | undefined => {
  if (argv.some((argument) => argument === '--help' || argument === '-h')) return undefined;
  const { from, to, project, replace, 'dry-run': dryRun } = parseFlags({ args: [...argv], options }).values;
  if (from === undefined || to === undefined) throw new UsageError('give both tables, --from and --to');
  if (from === to) throw new UsageError('--from and --to are the same table');
  const projectId = project === undefined ? undefined : parseProjectId(project);
  if (project !== undefined && projectId === undefined)
    throw new UsageError(`--project ${project}: ${projectIdRule}`);
  return { from, to, replace, dryRun, ...(projectId !== undefined && { project: projectId }) };
};
