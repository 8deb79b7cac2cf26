/**
 * `npm run restore -- --from <table> --to <table>`: the operator's command for restoring data. See
 * docs/operations.md.
 */

import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import {
  asNumber,
  dynamodbClient,
  type Item,
  insertItems,
  putItems,
  requestBudget,
  scanTable,
  type Table,
} from '../foundations/storage/index.ts';
import { tables } from '../foundations/storage/tables.ts';
import type { ProjectId } from '../foundations/wire/index.ts';
import {
  type CommandOutput,
  parseFlags,
  processOutput,
  projectOf,
  runCommand,
  UsageError,
} from './common.ts';

interface RestoreOptions {
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

/** @throws UsageError if an argument is wrong */
const parseOptions = (argv: readonly string[]): RestoreOptions => {
  const { from, to, project, replace, 'dry-run': dryRun } = parseFlags({ args: [...argv], options }).values;
  if (from === undefined || to === undefined) throw new UsageError('give both tables, --from and --to');
  if (from === to) throw new UsageError('--from and --to are the same table');
  return { from, to, replace, dryRun, ...(project !== undefined && { project: projectOf(project) }) };
};

interface CopyCounts {
  /** Items read that have not expired. */
  readonly read: number;
  /** Items written. */
  readonly written: number;
}

/** The number of segments that are scanned concurrently. */
const segments = 8;
/** The time to write one page of a scan, in ms. Beyond it the copy fails. */
const pageMs = 300_000;

/** Names and types of a table's keys. Items can be copied between tables with equal keys only. */
const keysOf = async ({ client, name }: Table): Promise<string> => {
  const { Table: table } = await client.send(new DescribeTableCommand({ TableName: name }));
  const types = new Map(
    table?.AttributeDefinitions?.map((attribute) => [attribute.AttributeName, attribute.AttributeType]),
  );
  return (table?.KeySchema ?? [])
    .map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName} ${types.get(AttributeName)}`)
    .join(', ');
};

/** @throws Error that names the keys of both tables if they differ */
const requireSameKeys = async (from: Table, to: Table): Promise<void> => {
  const [source, target] = await Promise.all([keysOf(from), keysOf(to)]);
  if (source === target) return;
  throw new Error(`the tables have different keys: ${from.name} has ${source}, ${to.name} has ${target}`);
};

const expired = ({ x }: Item, nowSeconds: number): boolean => {
  const seconds = asNumber(x);
  return seconds !== undefined && seconds < nowSeconds;
};

/**
 * Selects a project's items. In every table but that of the keys, the partition key is the
 * project's id, or starts with it and a zero byte.
 */
const ofProject = (project: string) => ({
  FilterExpression: '#k = :project OR begins_with(#k, :prefix)',
  ExpressionAttributeNames: { '#k': 'k' },
  ExpressionAttributeValues: {
    ':project': Buffer.from(project),
    ':prefix': Buffer.from(`${project}\0`),
  },
});

/**
 * Copies items from one table into another with the same keys. A failed copy can be repeated.
 *
 * @param onProgress called with the counts so far after each page
 * @throws ServiceError 503 when storage does not accept the items in time; the SDK's error if it
 * refuses
 */
const copyItems = async (
  from: Table,
  to: Table,
  { replace, dryRun, project }: Pick<RestoreOptions, 'replace' | 'dryRun' | 'project'>,
  onProgress: (soFar: CopyCounts) => void,
): Promise<CopyCounts> => {
  await requireSameKeys(from, to);
  let counts: CopyCounts = { read: 0, written: 0 };
  const write = async (items: readonly Item[]): Promise<number> => {
    if (dryRun) return 0;
    if (replace) await putItems(to, items, requestBudget(pageMs));
    const present = replace ? [] : await insertItems(to, items, requestBudget(pageMs));
    return items.length - present.length;
  };
  const copySegment = async (Segment: number): Promise<void> => {
    const options = { TotalSegments: segments, Segment, ConsistentRead: true };
    for await (const page of scanTable(from, { ...options, ...(project && ofProject(project)) })) {
      const items = page.filter((item) => !expired(item, Date.now() / 1000));
      const written = await write(items);
      counts = { read: counts.read + items.length, written: counts.written + written };
      onProgress(counts);
    }
  };
  await Promise.all(Array.from({ length: segments }, (_, segment) => copySegment(segment)));
  return counts;
};

/**
 * Runs the restore command.
 *
 * @param argv the arguments after the command's name
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage (nothing was done)
 */
export const run = (argv: readonly string[], io: CommandOutput): Promise<0 | 1 | 2> =>
  runCommand({ name: 'restore', help, argv }, io, () => restore(parseOptions(argv), io));

/**
 * What to say of a table that events and analytics would read if it had a stream, as a table that
 * was restored under the service's name has not; undefined if there is nothing to say.
 */
const streamNotice = async ({ client, name }: Table): Promise<string | undefined> => {
  const { Table: table } = await client.send(new DescribeTableCommand({ TableName: name }));
  if (table?.StreamSpecification?.StreamEnabled) return undefined;
  const indexes = new Set(table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName));
  const isRead = Object.values(tables).some(
    (declared) => 'stream' in declared && Object.keys(declared.indexes).every((index) => indexes.has(index)),
  );
  return isRead
    ? `${name} has no stream. If the stack has events or analytics, they get nothing: see docs/operations.md, "A table is gone"`
    : undefined;
};

const summary = ({ dryRun, from, to }: RestoreOptions, { read, written }: CopyCounts): string =>
  dryRun
    ? `${read} items in ${from}; nothing was written`
    : `${read} items in ${from}, ${written} written to ${to}, ${read - written} existed already`;

const restore = async (options: RestoreOptions, io: CommandOutput): Promise<void> => {
  const client = dynamodbClient();
  let reported = 0;
  try {
    const counts = await copyItems(
      { client, name: options.from },
      { client, name: options.to },
      options,
      (soFar) => {
        if (soFar.read - reported < 10_000) return;
        reported = soFar.read;
        io.err(`${soFar.read} items read, ${soFar.written} written`);
      },
    );
    io.out(summary(options, counts));
    const notice = await streamNotice({ client, name: options.to });
    if (notice !== undefined) io.err(notice);
  } finally {
    client.destroy();
  }
};

if (import.meta.main) process.exitCode = await run(process.argv.slice(2), processOutput);
