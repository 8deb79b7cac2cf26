import { CfnElement, Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { IConstruct } from 'constructs';
import type {
  CallsAccess,
  CostsAccess,
  FeedbackAccess,
  FilesAccess,
  ObjectsAccess,
  PayloadsAccess,
  RollupsAccess,
  Route,
  TablesAccess,
} from '../api/endpoint.ts';
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

/** cdk-nag writes the ARN of a resource as `<LogicalId.Arn>`. */
export const findingOf = (resource: IConstruct, path: string): string => {
  const child = resource.node.defaultChild;
  if (!child || !CfnElement.isCfnElement(child)) throw new Error(`${resource.node.path} is no resource`);
  return `<${Stack.of(resource).getLogicalId(child)}.Arn>${path}`;
};

/** What one way of accessing a store needs. */
interface Actions<Index extends string = string> {
  /** Actions of DynamoDB on the table itself. @default - none */
  readonly table?: readonly string[];
  /** The table's indexes that are queried. @default - none */
  readonly indexes?: readonly Index[];
  /** Actions of S3 on the objects of the store. @default - none */
  readonly objects?: readonly string[];
}

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

/**
 * How functions that streams or queues wake access the table of calls: `copy` for analytics, `publish`
 * for events and evaluators, `judge` for judges.
 */
type CallsOfStreams = 'copy' | 'publish' | 'judge';

// BatchExecuteStatement needs PartiQLInsert for its INSERTs. Transactions need PutItem, DeleteItem
// and ConditionCheckItem.

const calls: Readonly<Record<CallsAccess | CallsOfStreams, Actions<IndexName<'calls'>>>> = {
  // Read the other half of a call whose one half a stream has, and segments of payloads.
  copy: { table: ['BatchGetItem'] },
  // Keeps the places of starts that come after their ends, too.
  publish: { table: ['BatchGetItem', 'PutItem'] },
  // Reads calls and traces, and writes whole calls of judges.
  judge: { table: ['BatchGetItem', 'BatchWriteItem', 'Query'], indexes: ['by_trace'] },
  get: { table: ['BatchGetItem'] },
  find: { table: ['BatchGetItem', 'Query'], indexes: ['by_trace'] },
  query: { table: ['BatchGetItem', 'Query'], indexes: ['by_time', 'by_trace', 'by_thread', 'by_error'] },
  threads: { table: ['BatchGetItem'], indexes: ['by_thread'] },
  // Inserts starts and ends, and replaces one by one those that come again, and starts that hold an
  // end which comes again. Puts segments and notes in batches.
  write: { table: ['BatchGetItem', 'BatchWriteItem', 'PartiQLInsert', 'PutItem'] },
  // The same, and reads log records with the calls that they join.
  join: { table: ['BatchGetItem', 'BatchWriteItem', 'PartiQLInsert', 'PutItem', 'Query'] },
  record: { table: ['BatchWriteItem'] },
  update: { table: ['BatchGetItem', 'PutItem'] },
  // Puts segments that also hold others' payloads again, without those of the deleted. Finds
  // descendants in their traces. Queries notes on former payloads and deletes them in batches.
  delete: {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'PutItem', 'Query'],
    indexes: ['by_trace'],
  },
};

const payloads: Readonly<Record<PayloadsAccess, Actions<never>>> = {
  read: { objects: ['GetObject'] },
  write: { objects: ['PutObject'] },
  change: { objects: ['GetObject', 'PutObject'] },
  // Writing on condition of an ETag needs GetObject too.
  delete: { objects: ['GetObject', 'PutObject', 'DeleteObject'] },
};

const objects: Readonly<Record<ObjectsAccess, Actions<IndexName<'objects'>>>> = {
  read: { table: ['BatchGetItem'], objects: ['GetObject'] },
  query: { table: ['BatchGetItem', 'Query'], objects: ['GetObject'] },
  // BatchWriteItem puts and deletes notes on values in the bucket. Query finds them. Values that did
  // not become versions are deleted.
  create: {
    table: ['BatchGetItem', 'Query', 'BatchWriteItem', 'PutItem', 'DeleteItem'],
    objects: ['PutObject', 'DeleteObject'],
  },
  delete: {
    table: ['BatchGetItem', 'Query', 'BatchWriteItem', 'PutItem', 'DeleteItem'],
    objects: ['DeleteObject'],
  },
  label: { table: ['BatchGetItem', 'BatchWriteItem'] },
  unlabel: { table: ['BatchWriteItem'] },
  labels: { table: ['Query'] },
};

const files: Readonly<Record<FilesAccess, Actions<IndexName<'objects'>>>> = {
  create: { table: ['BatchGetItem', 'BatchWriteItem'], objects: ['PutObject'] },
  read: { table: ['BatchGetItem'], objects: ['GetObject'] },
};

// Rows are found by queries of their index.
const rowTables: Readonly<Record<TablesAccess, Actions<IndexName<'objects'>>>> = {
  create: { table: ['BatchWriteItem', 'Query'], objects: ['PutObject'] },
  update: { table: ['BatchGetItem', 'BatchWriteItem', 'Query'], objects: ['GetObject', 'PutObject'] },
  read: { table: ['BatchGetItem', 'Query'], objects: ['GetObject'] },
  count: { table: ['BatchGetItem'] },
};

const costs: Readonly<Record<CostsAccess, Actions<IndexName<'costs'>>>> = {
  read: { table: ['Query'] },
  // Prices are inserted and deleted, never looked up first or replaced.
  create: { table: ['PartiQLInsert'] },
  purge: { table: ['BatchWriteItem'] },
};

const feedback: Readonly<Record<FeedbackAccess, Actions<IndexName<'feedback'>>>> = {
  find: { table: ['BatchGetItem'] },
  join: { table: ['BatchGetItem'], indexes: ['by_ref'], objects: ['GetObject'] },
  erase: {
    table: ['BatchGetItem', 'DeleteItem', 'PutItem'],
    indexes: ['by_ref'],
    objects: ['DeleteObject'],
  },
  query: { table: ['BatchGetItem'], indexes: ['by_time', 'by_ref', 'by_type'], objects: ['GetObject'] },
  count: { table: ['BatchGetItem'], indexes: ['by_time', 'by_type'], objects: ['GetObject'] },
  // PutItem replaces a tombstone that has the id. A payload is deleted if its record turned out to be
  // there already.
  create: {
    table: ['BatchGetItem', 'PartiQLInsert', 'PutItem'],
    objects: ['PutObject', 'DeleteObject'],
  },
  // What it creates is small enough for an item.
  annotate: {
    table: ['BatchGetItem', 'PartiQLInsert', 'PutItem'],
    indexes: ['by_time', 'by_ref'],
    objects: ['GetObject'],
  },
  replace: {
    table: ['BatchGetItem', 'PutItem', 'ConditionCheckItem'],
    objects: ['PutObject', 'DeleteObject'],
  },
  purge: { table: ['BatchGetItem', 'PutItem', 'DeleteItem'], objects: ['DeleteObject'] },
};

/** How the function of alerts accesses rollups, and its own states beside them. */
type RollupsOfAlerts = 'watch';

const rollups: Readonly<Record<RollupsAccess | RollupsOfAlerts, Actions<IndexName<'rollups'>>>> = {
  // A transaction stores what was found on condition that the project's claim holds.
  watch: {
    table: ['BatchGetItem', 'BatchWriteItem', 'ConditionCheckItem', 'DeleteItem', 'PutItem', 'Query'],
  },
  note: { table: ['UpdateItem'] },
  list: { table: ['Query'] },
  // A transaction replaces what is known of a verdict, and adds to what a day's verdicts cost.
  spend: { table: ['BatchGetItem', 'PutItem', 'UpdateItem'] },
  use: { table: ['Query', 'BatchWriteItem'] },
  serve: { table: ['Query', 'BatchWriteItem', 'UpdateItem'] },
};

/** What a function may do that accesses stores in these ways. */
const storePermissions = (
  stores: Omit<Route['stores'], 'calls' | 'rollups'> & {
    readonly calls?: CallsAccess | CallsOfStreams;
    readonly rollups?: RollupsAccess | RollupsOfAlerts;
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
    ...granted(storage.calls, stores.payloads && payloads[stores.payloads], 'segments'),
    ...granted(storage.objects, stores.objects && objects[stores.objects], 'objects'),
    ...granted(storage.objects, stores.files && files[stores.files], 'files'),
    ...granted(storage.objects, stores.tables && rowTables[stores.tables], 'tables'),
    ...granted(storage.costs, stores.costs && costs[stores.costs], 'costs'),
    ...granted(storage.feedback, stores.feedback && feedback[stores.feedback], 'feedback'),
    ...granted(storage.rollups, stores.rollups && rollups[stores.rollups], 'rollups'),
  ];
};

/** What a route's function may do to its stores: what the route declares, and nothing else. */
export const permissionsOf = ({ stores }: Route, storage: Storage): Permission[] =>
  storePermissions(stores, storage);

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
export const readerPermissions = (access: CallsOfStreams, storage: Storage): Permission[] =>
  storePermissions({ calls: access, payloads: 'read', costs: 'read' }, storage);

/**
 * What the function may do that decides which calls evaluators judge.
 *
 * @param isReader whether it has what readers of streams have already
 */
export const watcherPermissions = (storage: Storage, isReader: boolean): Permission[] =>
  storePermissions({ ...(!isReader && { calls: 'publish', payloads: 'read' }), objects: 'query' }, storage);

/** What the function may do besides that tries evaluators: ask judges, store their calls, and pay. */
export const trialPermissions = (storage: Storage): Permission[] =>
  storePermissions({ calls: 'judge', payloads: 'change', rollups: 'spend' }, storage);

/** What the function may do that looks at alerts. */
export const alertPermissions = (storage: Storage): Permission[] =>
  storePermissions(
    {
      ...{ calls: 'query', payloads: 'read', objects: 'query', costs: 'read' },
      ...{ feedback: 'count', rollups: 'watch' },
    },
    storage,
  );

/** What the function may do that judges calls. */
export const judgePermissions = (storage: Storage): Permission[] =>
  storePermissions(
    {
      ...{ calls: 'judge', payloads: 'change', objects: 'read', costs: 'read' },
      ...{ feedback: 'create', rollups: 'spend' },
    },
    storage,
  );
