import { CfnElement, Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { IConstruct } from 'constructs';
import type { Actions, Stores } from '../api/access.ts';
import * as access from '../api/access.ts';
import { type IndexName, tables } from '../foundations/storage/tables.ts';
import type { Config } from './config.ts';
import type { Storage } from './storage.ts';

/** Something that a function may do: these actions on this ARN. */
export interface Permission {
  readonly actions: readonly string[];
  readonly resource: string;
  /** For an ARN with a wildcard: cdk-nag's name of it, and why it is needed. @default - none */
  readonly wildcard?: { readonly finding: string; readonly reason: string };
}

/** What a function needs for something: variables, and what it may do. */
export interface Needs {
  readonly environment: Readonly<Record<string, string>>;
  readonly permissions: readonly Permission[];
}

/** cdk-nag writes the ARN of a resource as `<LogicalId.Arn>`. */
export const findingOf = (resource: IConstruct, path: string): string => {
  const child = resource.node.defaultChild;
  if (!child || !CfnElement.isCfnElement(child)) throw new Error(`${resource.node.path} is no resource`);
  return `<${Stack.of(resource).getLogicalId(child)}.Arn>${path}`;
};

/** What is done to a table: to itself, and to its indexes. */
const tablePermissions = (tableArn: string, { table = [], indexes = [] }: Actions): Permission[] => [
  ...(table.length > 0 ? [{ actions: table.map((action) => `dynamodb:${action}`), resource: tableArn }] : []),
  ...indexes.map((index) => ({ actions: ['dynamodb:Query'], resource: `${tableArn}/index/${index}` })),
];

/** What is done to the objects of the bucket below a prefix. */
const objectPermissions = (bucket: Bucket, prefix: string, actions: readonly string[] = []): Permission[] => {
  if (actions.length === 0) return [];
  const objects: Permission = {
    actions: actions.map((action) => `s3:${action}`),
    resource: bucket.arnForObjects(`${prefix}/*`),
    wildcard: {
      finding: findingOf(bucket, `/${prefix}/*`),
      reason: 'Objects are named after what is in them; the actions are all that this function does to one.',
    },
  };
  // Without it S3 answers 403 for an object that does not exist.
  const list: Permission = { actions: ['s3:ListBucket'], resource: bucket.bucketArn };
  return actions.includes('GetObject') ? [objects, list] : [objects];
};

/** Access to calls, also that of functions that streams and queues wake. */
const calls = {
  ...access.calls,
  /** For analytics: reads the other half of a call whose one half a stream has, and segments of payloads. */
  copy: { table: ['BatchGetItem'] },
  /** For events and evaluators: keeps the places of starts that come after their ends, too. */
  publish: { table: ['BatchGetItem', 'PutItem'] },
  /** Reads calls and traces, and writes whole calls of judges. */
  judge: { table: ['BatchGetItem', 'BatchWriteItem', 'Query'], indexes: ['by_trace'] },
} as const satisfies Readonly<Record<string, Actions<IndexName<'calls'>>>>;

/** Access to rollups, also that of functions that schedules and queues wake. */
const rollups = {
  ...access.rollups,
  /** For judges: does what spending takes, and finds, takes and ends leases. */
  judge: { table: ['BatchGetItem', 'DeleteItem', 'PutItem', 'Query', 'UpdateItem'] },
  /**
   * For alerts, whose states are beside the rollups. A transaction stores what was found on condition
   * that the project's claim holds.
   */
  watch: {
    table: ['BatchGetItem', 'BatchWriteItem', 'ConditionCheckItem', 'DeleteItem', 'PutItem', 'Query'],
  },
} as const satisfies Readonly<Record<string, Actions<IndexName<'rollups'>>>>;

/** What a function may do that accesses stores in these ways, and nothing else. */
export const storePermissions = (
  stores: Omit<Stores, 'calls' | 'rollups'> & {
    readonly calls?: keyof typeof calls;
    readonly rollups?: keyof typeof rollups;
  },
  storage: Storage,
): Permission[] => {
  const granted = (
    { tableArn }: Pick<Table, 'tableArn'>,
    actions: Actions | undefined,
    prefix: string,
  ): Permission[] =>
    actions
      ? [
          ...tablePermissions(tableArn, actions),
          ...objectPermissions(storage.payloads, prefix, actions.objects),
        ]
      : [];
  return [
    ...granted(storage.calls, stores.calls && calls[stores.calls], 'segments'),
    ...granted(storage.calls, stores.payloads && access.payloads[stores.payloads], 'segments'),
    ...granted(storage.objects, stores.objects && access.objects[stores.objects], 'objects'),
    ...granted(storage.objects, stores.files && access.files[stores.files], 'files'),
    ...granted(storage.objects, stores.tables && access.rowTables[stores.tables], 'tables'),
    ...granted(storage.costs, stores.costs && access.costs[stores.costs], 'costs'),
    ...granted(storage.feedback, stores.feedback && access.feedback[stores.feedback], 'feedback'),
    ...granted(storage.rollups, stores.rollups && rollups[stores.rollups], 'rollups'),
  ];
};

/** The environment of a function that reads what streams refer to. */
export const readerEnvironment = (
  { shards, retentionDays }: Config,
  storage: Storage,
): Record<string, string> => ({
  SHARDS: shards.join(','),
  ...(retentionDays !== undefined && { RETENTION_DAYS: String(retentionDays) }),
  [tables.calls.variable]: storage.calls.tableName,
  [tables.feedback.variable]: storage.feedback.tableName,
  [tables.costs.variable]: storage.costs.tableName,
  PAYLOADS_BUCKET: storage.payloads.bucketName,
});

/**
 * What such a function may do: read the other half of a call, payloads whose header lacks the
 * usage, and prices. Records have all of feedback that is read.
 */
export const readerPermissions = (way: 'copy' | 'publish' | 'judge', storage: Storage): Permission[] =>
  storePermissions({ calls: way, payloads: 'read', costs: 'read' }, storage);
