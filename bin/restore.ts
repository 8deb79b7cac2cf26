/**
 * `npm run restore -- --from <table> --to <table>`: the operator's command for restoring data. See
 * docs/operations.md.
 */

import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type StreamViewType,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  type UpdateTableCommandInput,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import type { AuditedChange } from '../core/records/audit.ts';
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
  Failure,
  parseFlags,
  parseProject,
  processOutput,
  root,
  runCommand,
  UsageError,
} from './common.ts';
import { defaultStack } from './location.ts';
import { auditOperator } from './operator.ts';

interface CopyOptions {
  /** The names of the tables. */
  readonly from: string;
  readonly to: string;
  /** Whether existing items are replaced. */
  readonly replace: boolean;
  /** Whether items are only counted. */
  readonly dryRun: boolean;
  /** The only project whose items are copied; absent for all. */
  readonly project?: ProjectId;
  /** The stack of the table that is written to. */
  readonly stack: string;
}

export const help = `Copy the items of a restored table back into the service's own.

  npm run restore -- --from TABLE --to TABLE [--project ENTITY/PROJECT] [--replace] [--dry-run] [--stack NAME]
  npm run restore -- --complete TABLE [--stack NAME]

  --from TABLE      the table that point-in-time recovery made
  --to TABLE        the table of the service
  --project NAME    only this project's items (default: all)
  --replace         replace items with the same keys (default: only add missing items)
  --dry-run         only count the items
  --complete TABLE  give a table that was restored under the service's own name what a restore leaves out:
                    expiry, point-in-time recovery, protection and stream, as its stack has them
  --stack NAME      the stack of the service's table, whose audit trail has it (default: ${defaultStack})

Expired items are left out. The command can be repeated. Exit code: 0 done, 1 failed, 2 wrong usage.`;

const options = {
  from: { type: 'string' },
  to: { type: 'string' },
  project: { type: 'string' },
  replace: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  complete: { type: 'string' },
  stack: { type: 'string' },
} as const;

interface CompleteOptions {
  readonly stack: string;
  /** The name of the restored table, which is that of the stack's. */
  readonly table: string;
}

type RestoreOptions = CompleteOptions | CopyOptions;

/** @throws UsageError if an argument is wrong */
const parseOptions = (argv: readonly string[]): RestoreOptions => {
  const { complete: table, stack = defaultStack, ...copy } = parseFlags({ args: [...argv], options }).values;
  if (table !== undefined) {
    const others = Object.entries(copy).filter(([, value]) => value !== undefined && value !== false);
    if (others.length > 0) throw new UsageError('--complete takes no other option but --stack');
    return { table, stack };
  }
  const { from, to, project, replace, 'dry-run': dryRun } = copy;
  if (from === undefined || to === undefined) throw new UsageError('give both tables, --from and --to');
  if (from === to) throw new UsageError('--from and --to are the same table');
  return {
    from,
    to,
    replace,
    dryRun,
    stack,
    ...(project !== undefined && { project: parseProject(project) }),
  };
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
const readKeyTypes = async ({ client, name }: Table): Promise<string> => {
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
  const [source, target] = await Promise.all([readKeyTypes(from), readKeyTypes(to)]);
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
  { replace, dryRun, project }: Pick<CopyOptions, 'replace' | 'dryRun' | 'project'>,
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
  runCommand({ name: 'restore', help, argv }, io, () => {
    const given = parseOptions(argv);
    return 'table' in given ? complete(given, io) : restore(given, io);
  });

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
    ? `${name} has no stream. If the stack has events, analytics or evaluators, they get nothing: npm run restore -- --complete ${name}`
    : undefined;
};

const summary = ({ dryRun, from, to }: CopyOptions, { read, written }: CopyCounts): string =>
  dryRun
    ? `${read} items in ${from}; nothing was written`
    : `${read} items in ${from}, ${written} written to ${to}, ${read - written} existed already`;

/** Puts on the trail of a stack what is done to one of its tables. */
const auditTable = (stack: string, table: string, change: Omit<AuditedChange, 'target'>, io: CommandOutput) =>
  auditOperator({ kind: 'stack', name: stack }, root, [{ ...change, target: table }], io, table);

const restore = async (options: CopyOptions, io: CommandOutput): Promise<void> => {
  const { from, to, project, replace, stack } = options;
  if (!options.dryRun) {
    const change = { scope: project ?? '*', action: 'table.restore', after: { from, replace } } as const;
    await auditTable(stack, to, change, io);
  }
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

/** What a template says of a table that a restored one lacks. */
const completing = z.object({
  TimeToLiveSpecification: z.object({ AttributeName: z.string() }).optional(),
  PointInTimeRecoverySpecification: z.object({ PointInTimeRecoveryEnabled: z.boolean() }).optional(),
  DeletionProtectionEnabled: z.boolean().default(false),
  StreamSpecification: z.object({ StreamViewType: z.string() }).optional(),
});

const templateSchema = z.object({
  Resources: z.record(z.string(), z.object({ Properties: completing.optional() })),
});

/**
 * What a stack says of its table of a name.
 *
 * @throws Failure if it has no such table
 */
const declaredInStack = async ({ stack, table }: CompleteOptions): Promise<z.output<typeof completing>> => {
  // It loads slowly.
  const { CloudFormationClient, GetTemplateCommand, paginateListStackResources } = await import(
    '@aws-sdk/client-cloudformation'
  );
  const client = new CloudFormationClient();
  try {
    let id: string | undefined;
    for await (const { StackResourceSummaries = [] } of paginateListStackResources(
      { client },
      { StackName: stack },
    ))
      id ??= StackResourceSummaries.find((one) => one.PhysicalResourceId === table)?.LogicalResourceId;
    const { TemplateBody = '{}' } = await client.send(new GetTemplateCommand({ StackName: stack }));
    const properties = id && templateSchema.parse(JSON.parse(TemplateBody)).Resources[id]?.Properties;
    if (properties) return properties;
    throw new Failure(`the stack ${stack} has no table ${table}: restore it under the service's own name`);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ValidationError') throw error;
    throw new Failure(
      `no stack ${stack} in ${await client.config.region()}: name it (--stack NAME), or set AWS_REGION`,
      { cause: error },
    );
  } finally {
    client.destroy();
  }
};

/** How long a table may take to be changed, in seconds. */
const changeSeconds = 600;

/** Gives a restored table what its stack says of it. What it has already stays, so it can be repeated. */
const complete = async (options: CompleteOptions, io: CommandOutput): Promise<void> => {
  const declared = await declaredInStack(options);
  const name = options.table;
  await auditTable(options.stack, name, { scope: '*', action: 'table.complete' }, io);
  const client = dynamodbClient();
  const change = async (input: Omit<UpdateTableCommandInput, 'TableName'>): Promise<void> => {
    await client.send(new UpdateTableCommand({ TableName: name, ...input }));
    // A table takes one change at a time.
    const waiting = { client, maxWaitTime: changeSeconds, minDelay: 1, maxDelay: 5 };
    await waitUntilTableExists(waiting, { TableName: name });
  };
  try {
    const { Table: table } = await client.send(new DescribeTableCommand({ TableName: name }));
    const { TimeToLiveDescription: expiry } = await client.send(
      new DescribeTimeToLiveCommand({ TableName: name }),
    );
    const done: string[] = [];
    if (declared.TimeToLiveSpecification && !/^ENABL/.test(expiry?.TimeToLiveStatus ?? '')) {
      const { AttributeName } = declared.TimeToLiveSpecification;
      const TimeToLiveSpecification = { AttributeName, Enabled: true };
      await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
      done.push(`items expire by ${AttributeName}`);
    }
    if (declared.PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled) {
      const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
      await client.send(
        new UpdateContinuousBackupsCommand({ TableName: name, PointInTimeRecoverySpecification }),
      );
      done.push('it has point-in-time recovery');
    }
    if (declared.DeletionProtectionEnabled && !table?.DeletionProtectionEnabled) {
      await change({ DeletionProtectionEnabled: true });
      done.push('it is protected');
    }
    const lacksStream = declared.StreamSpecification && !table?.StreamSpecification?.StreamEnabled;
    if (declared.StreamSpecification && lacksStream) {
      const StreamViewType = declared.StreamSpecification.StreamViewType as StreamViewType;
      await change({ StreamSpecification: { StreamEnabled: true, StreamViewType } });
      done.push('it has a stream');
    }
    io.out(`${name}: ${done.join(', ') || 'nothing was missing'}`);
    if (declared.StreamSpecification)
      io.err(
        'The functions still read the stream of the former table. Have them read the new one by two deployments:\n' +
          '  npx cdk deploy -c readStreams=false && npx cdk deploy',
      );
  } finally {
    client.destroy();
  }
};

export const main = (argv: readonly string[]): Promise<number> => run(argv, processOutput);

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
