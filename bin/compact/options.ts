import { type ProjectId, parseProjectId, projectIdRule } from '../../core/foundations/wire/index.ts';
import { type Dataset, datasets } from '../../core/workers/analytics/index.ts';
import { parseFlags } from '../common/parse-flags.ts';
import { UsageError } from '../common/usage-error.ts';

export interface CompactOptions {
  readonly bucket: string;
  readonly project: ProjectId;
  readonly datasets: readonly Dataset[];
  /** The first and the last day, inclusive; absent for all. */
  readonly from?: string;
  readonly to?: string;
  readonly dryRun: boolean;
}

export const help = `Take deleted calls and feedback out of the files of analytics, and merge files.

  npm run compact -- --bucket BUCKET --project ENTITY/PROJECT [--from DAY] [--to DAY] [--dry-run]

  --bucket BUCKET   the output AnalyticsBucket of the stack
  --project NAME    the project
  --from DAY        the first day, such as 2026-11-01 (default: all)
  --to DAY          the last day
  --dry-run         only count

Each day gets one file with the last state of each call. It may run beside the service and may be
repeated. Exit code: 0 done, 1 failed, 2 wrong usage.`;

const options = {
  bucket: { type: 'string' },
  project: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
} as const;

const dayOf = (flag: string, text: string | undefined): string | undefined => {
  if (text === undefined || /^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  throw new UsageError(`--${flag} ${text}: write a day such as 2026-11-01`);
};

/**
 * Parses a command line.
 *
 * @returns undefined if help is requested
 * @throws UsageError if an argument is wrong
 */
export const parseOptions = (argv: readonly string[]): CompactOptions | undefined => {
  if (argv.some((argument) => argument === '--help' || argument === '-h')) return undefined;
  const { values } = parseFlags({ args: [...argv], options });
  if (values.bucket === undefined) throw new UsageError('give the bucket, --bucket');
  const project = parseProjectId(values.project ?? '');
  if (project === undefined) throw new UsageError(`--project ${values.project ?? ''}: ${projectIdRule}`);
  const [from, to] = [dayOf('from', values.from), dayOf('to', values.to)];
  return {
    bucket: values.bucket,
    project,
    datasets: Object.keys(datasets) as Dataset[],
    dryRun: values['dry-run'],
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
};
