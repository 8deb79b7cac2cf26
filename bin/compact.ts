/**
 * `npm run compact -- --project <project>`: takes what was deleted out of the files of analytics, and makes
 * few files of many. See docs/analytics.md.
 */

import {
  DeleteObjectsCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import {
  compacted,
  type Dataset,
  datasets,
  fromParquet,
  type ReadCells,
  toParquet,
} from '../core/workers/analytics/index.ts';
import type { ProjectId } from '../foundations/wire/index.ts';
import {
  type CommandOutput,
  parseFlags,
  parseProject,
  processOutput,
  root,
  runCommand,
  UsageError,
} from './common.ts';
import { defaultStack, outputOfStack } from './location.ts';
import { auditOperator } from './operator.ts';

/** Where the files are: in a bucket, or in that of a stack. */
type Place = { readonly bucket: string } | { readonly stack: string };

interface CompactOptions {
  readonly project: ProjectId;
  /** The first and the last day, inclusive; absent for all. */
  readonly from?: string;
  readonly to?: string;
  readonly dryRun: boolean;
}

export const help = `Take deleted calls and feedback out of the files of analytics, and merge files.

  npm run compact -- --project ENTITY/PROJECT [--from DAY] [--to DAY] [--dry-run]

  --project NAME    the project
  --stack NAME      the stack whose files they are, and whose audit trail has it (default: ${defaultStack})
  --bucket BUCKET   the bucket itself, such as one whose stack is gone: no trail has it
  --from DAY        the first day, such as 2026-11-01 (default: all)
  --to DAY          the last day
  --dry-run         only count

Each day gets one file with the last state of each call. It may run beside the service and may be
repeated. Exit code: 0 done, 1 failed, 2 wrong usage.`;

const options = {
  stack: { type: 'string' },
  bucket: { type: 'string' },
  project: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
} as const;

const parseDay = (flag: string, text: string | undefined): string | undefined => {
  if (text === undefined || /^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  throw new UsageError(`--${flag} ${text}: write a day such as 2026-11-01`);
};

/** @throws UsageError if an argument is wrong */
const parseOptions = (argv: readonly string[]): CompactOptions & { readonly place: Place } => {
  const { values } = parseFlags({ args: [...argv], options });
  const { bucket, stack } = values;
  if (bucket !== undefined && stack !== undefined)
    throw new UsageError('--stack and --bucket each say where the files are: give one of them');
  const from = parseDay('from', values.from);
  const to = parseDay('to', values.to);
  return {
    place: bucket === undefined ? { stack: stack ?? defaultStack } : { bucket },
    project: parseProject(values.project),
    dryRun: values['dry-run'],
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
};

/** What is compacted, in which bucket. */
type BucketOptions = CompactOptions & { readonly bucket: string };

interface CompactCounts {
  readonly days: number;
  readonly filesBefore: number;
  readonly rowsBefore: number;
  readonly rowsAfter: number;
}

/**
 * For how long the row of a deletion stays, in ms. A record is in its stream for a day, so an older
 * row cannot come later.
 */
const deletionMs = 2 * 24 * 60 * 60 * 1000;

/** S3's bound on one request. */
const maxDeletes = 1000;

/** The keys of a project's files by their folder, of the days that are asked for. */
const listFolders = async (
  client: S3Client,
  { bucket, project, from = '', to = '9999' }: BucketOptions,
  dataset: Dataset,
): Promise<Map<string, string[]>> => {
  const prefix = `${dataset}/project=${project}/day=`;
  const folders = new Map<string, string[]>();
  for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix }))
    for (const { Key: key = '' } of page.Contents ?? []) {
      const day = key.slice(prefix.length, prefix.length + 10);
      const folder = `${prefix}${day}/`;
      if (day >= from && day <= to) folders.set(folder, [...(folders.get(folder) ?? []), key]);
    }
  return folders;
};

const readFile = async (client: S3Client, Bucket: string, Key: string): Promise<ReadCells[]> => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return fromParquet((await Body?.transformToByteArray()) ?? new Uint8Array());
};

/**
 * Replaces the files of one folder by one. The new one is there before the old ones go; the view
 * takes rows that are there twice for one.
 */
const compactFolder = async (
  client: S3Client,
  { bucket, dryRun }: BucketOptions,
  dataset: Dataset,
  [folder, keys]: readonly [string, readonly string[]],
): Promise<{ before: number; after: number }> => {
  const rows = (await Promise.all(keys.map((key) => readFile(client, bucket, key)))).flat();
  const left = compacted(rows, (Date.now() - deletionMs) * 1000);
  const counts = { before: rows.length, after: left.length };
  const isDone = keys.length === 1 && left.length === rows.length;
  if (dryRun || isDone) return counts;
  const merged = `${folder}compacted-${Date.now()}.parquet`;
  if (left.length > 0) {
    const body = toParquet(
      dataset,
      left.map((cells) => ({ cells })),
    );
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: merged, Body: body }));
  }
  for (let at = 0; at < keys.length; at += maxDeletes) {
    const Objects = keys.slice(at, at + maxDeletes).map((Key) => ({ Key }));
    await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }));
  }
  return counts;
};

/**
 * Compacts the files of a project, day by day. Files that come meanwhile are left alone.
 *
 * @throws the SDK's error if S3 refuses
 */
export const compactFolders = async (client: S3Client, options: BucketOptions): Promise<CompactCounts> => {
  let days = 0;
  let filesBefore = 0;
  let rowsBefore = 0;
  let rowsAfter = 0;
  for (const dataset of Object.keys(datasets) as Dataset[]) {
    for (const folder of await listFolders(client, options, dataset)) {
      const { before, after } = await compactFolder(client, options, dataset, folder);
      days++;
      filesBefore += folder[1].length;
      rowsBefore += before;
      rowsAfter += after;
    }
  }
  return { days, filesBefore, rowsBefore, rowsAfter };
};

const findBucket = async (place: Place): Promise<string> =>
  'bucket' in place
    ? place.bucket
    : outputOfStack(place.stack, 'AnalyticsBucket', 'deploy it with the setting analytics, or give --bucket');

/**
 * Runs the compact command.
 *
 * @param argv the arguments after the command's name
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage (nothing was done)
 */
export const run = (argv: readonly string[], io: CommandOutput): Promise<0 | 1 | 2> =>
  runCommand({ name: 'compact', help, argv }, io, async () => {
    const { place, ...options } = parseOptions(argv);
    const bucket = await findBucket(place);
    if ('stack' in place && !options.dryRun) {
      const { project, from = null, to = null } = options;
      const deed = { scope: project, action: 'project.compact', target: project, after: { from, to } };
      await auditOperator({ kind: 'stack', name: place.stack }, root, [deed], io);
    }
    const client = new S3Client({});
    try {
      const { days, filesBefore, rowsBefore, rowsAfter } = await compactFolders(client, {
        ...options,
        bucket,
      });
      const done = options.dryRun ? 'would be left; nothing was written' : 'are left';
      io.out(`${days} days, ${filesBefore} files, ${rowsBefore} rows: ${rowsAfter} rows ${done}`);
    } finally {
      client.destroy();
    }
  });

export const main = (argv: readonly string[]): Promise<number> => run(argv, processOutput);

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
