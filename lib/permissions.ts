import { CfnElement, Stack } from 'aws-cdk-lib';
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
} from '../api/routes.ts';
import { type IndexName, type TableName, tables } from '../core/foundations/storage/tables.ts';
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

/** What is done to a table: to itself, and to its indexes. */
interface TableActions<T extends TableName> {
  readonly table: readonly string[];
  /** The indexes that are queried. */
  readonly indexes?: readonly IndexName<T>[];
}

const tablePermissions = <T extends TableName>(
  tableArn: string,
  { table, indexes = [] }: TableActions<T>,
): Permission[] => [
  ...(table.length > 0 ? [{ actions: table.map((action) => `dynamodb:${action}`), resource: tableArn }] : []),
  ...indexes.map((index) => ({ actions: ['dynamodb:Query'], resource: `${tableArn}/index/${index}` })),
];

/** What is done to the objects of the bucket below a prefix. */
const objectPermissions = (payloads: Bucket, prefix: string, actions: readonly string[]): Permission[] => {
  if (actions.length === 0) return [];
  const objects: Permission = {
    actions: actions.map((action) => `s3:${action}`),
    resource: payloads.arnForObjects(`${prefix}/*`),
    wildcard: {
      finding: findingOf(payloads, `/${prefix}/*`),
      reason: 'Objects are named after what is in them; the actions are all that this function does to one.',
    },
  };
  // Without it S3 answers 403 for an object that does not exist.
  const list: Permission = { actions: ['s3:ListBucket'], resource: payloads.bucketArn };
  return actions.includes('GetObject') ? [objects, list] : [objects];
};

// BatchExecuteStatement needs PartiQLInsert for its INSERTs. Transactions need PutItem, DeleteItem
// and ConditionCheckItem.

/** How functions that streams wake access the table of calls. */
type CallsOfStreams = 'copy' | 'tell';

const callsActions: Readonly<Record<CallsAccess | CallsOfStreams, TableActions<'calls'>>> = {
  // Read the other half of a call whose one half a stream has, and segments of payloads.
  copy: { table: ['BatchGetItem'] },
  // Keeps the places of starts that come after their ends, too.
  tell: { table: ['BatchGetItem', 'PutItem'] },
  find: { table: ['BatchGetItem', 'Query'], indexes: ['by_trace'] },
  sum: { table: ['BatchGetItem', 'Query'], indexes: ['by_time', 'by_trace'] },
  query: { table: ['BatchGetItem', 'Query'], indexes: ['by_time', 'by_trace', 'by_thread', 'by_error'] },
  threads: { table: ['BatchGetItem'], indexes: ['by_thread'] },
  // Inserts starts and ends, and replaces one by one those that come again, and starts that hold an
  // end which comes again. Puts segments and notes in batches.
  write: { table: ['BatchGetItem', 'BatchWriteItem', 'PartiQLInsert', 'PutItem'] },
  record: { table: ['BatchWriteItem'] },
  update: { table: ['BatchGetItem', 'PutItem'] },
  // Puts segments that also hold others' payloads again, without those of the deleted. Finds
  // descendants in their traces. Queries notes on former payloads and deletes them in batches.
  delete: {
    table: ['BatchGetItem', 'BatchWriteItem', 'DeleteItem', 'PutItem', 'Query'],
    indexes: ['by_trace'],
  },
};

const payloadsActions: Readonly<Record<PayloadsAccess, readonly string[]>> = {
  read: ['GetObject'],
  write: ['PutObject'],
  // Writing on condition of an ETag needs GetObject too.
  delete: ['GetObject', 'PutObject', 'DeleteObject'],
};

const objectsActions: Readonly<Record<ObjectsAccess, TableActions<'objects'>>> = {
  read: { table: ['BatchGetItem'] },
  query: { table: ['BatchGetItem', 'Query'] },
  // BatchWriteItem puts and deletes notes on values in the bucket. Query finds them.
  create: { table: ['BatchGetItem', 'Query', 'BatchWriteItem', 'PutItem', 'DeleteItem'] },
  delete: { table: ['BatchGetItem', 'Query', 'BatchWriteItem', 'PutItem', 'DeleteItem'] },
  label: { table: ['BatchGetItem', 'BatchWriteItem'] },
  unlabel: { table: ['BatchWriteItem'] },
  labels: { table: ['Query'] },
};

const valuesActions: Readonly<Record<ObjectsAccess, readonly string[]>> = {
  read: ['GetObject'],
  query: ['GetObject'],
  // Deletes values that did not become versions.
  create: ['PutObject', 'DeleteObject'],
  delete: ['DeleteObject'],
  label: [],
  unlabel: [],
  labels: [],
};

const filesActions: Readonly<Record<FilesAccess, TableActions<'objects'>>> = {
  create: { table: ['BatchGetItem', 'BatchWriteItem'] },
  read: { table: ['BatchGetItem'] },
};

const fileObjectActions: Readonly<Record<FilesAccess, readonly string[]>> = {
  create: ['PutObject'],
  read: ['GetObject'],
};

// Rows are found by queries of their index.
const tablesActions: Readonly<Record<TablesAccess, TableActions<'objects'>>> = {
  create: { table: ['BatchWriteItem', 'Query'] },
  update: { table: ['BatchGetItem', 'BatchWriteItem', 'Query'] },
  read: { table: ['BatchGetItem', 'Query'] },
  count: { table: ['BatchGetItem'] },
};

const tableObjectActions: Readonly<Record<TablesAccess, readonly string[]>> = {
  create: ['PutObject'],
  update: ['GetObject', 'PutObject'],
  read: ['GetObject'],
  count: [],
};

const costsActions: Readonly<Record<CostsAccess, TableActions<'costs'>>> = {
  read: { table: ['Query'] },
  // Prices are inserted and deleted, never looked up first or replaced.
  create: { table: ['PartiQLInsert'] },
  purge: { table: ['BatchWriteItem'] },
};

const feedbackActions: Readonly<Record<FeedbackAccess, TableActions<'feedback'>>> = {
  join: { table: ['BatchGetItem'], indexes: ['by_ref'] },
  erase: { table: ['BatchGetItem', 'DeleteItem', 'PutItem'], indexes: ['by_ref'] },
  query: { table: ['BatchGetItem'], indexes: ['by_time', 'by_ref', 'by_type'] },
  // PutItem replaces a tombstone that has the id.
  create: { table: ['BatchGetItem', 'PartiQLInsert', 'PutItem'] },
  replace: { table: ['BatchGetItem', 'PutItem', 'ConditionCheckItem'] },
  purge: { table: ['BatchGetItem', 'PutItem', 'DeleteItem'] },
};

const feedbackObjectActions: Readonly<Record<FeedbackAccess, readonly string[]>> = {
  join: ['GetObject'],
  erase: ['DeleteObject'],
  query: ['GetObject'],
  // Deletes a payload whose record turned out to be there already.
  create: ['PutObject', 'DeleteObject'],
  replace: ['PutObject', 'DeleteObject'],
  purge: ['DeleteObject'],
};

const rollupsActions: Readonly<Record<RollupsAccess, TableActions<'rollups'>>> = {
  note: { table: ['UpdateItem'] },
  list: { table: ['Query'] },
  use: { table: ['Query', 'BatchWriteItem'] },
};

/** What a route's function may do to its stores: what the route declares, and nothing else. */
export const permissionsOf = ({ stores }: Route, storage: Storage): Permission[] =>
  storePermissions(stores, storage);

/** What a function may do that accesses stores in these ways. */
const storePermissions = (
  {
    calls,
    payloads,
    objects,
    files,
    tables,
    costs,
    feedback,
    rollups,
  }: Omit<Route['stores'], 'calls'> & { readonly calls?: CallsAccess | CallsOfStreams },
  {
    calls: callsTable,
    objects: objectsTable,
    costs: costsTable,
    feedback: feedbackTable,
    rollups: rollupsTable,
    payloads: bucket,
  }: Storage,
): Permission[] => [
  ...(calls ? tablePermissions(callsTable.tableArn, callsActions[calls]) : []),
  ...(payloads ? objectPermissions(bucket, 'segments', payloadsActions[payloads]) : []),
  ...(objects ? tablePermissions(objectsTable.tableArn, objectsActions[objects]) : []),
  ...(objects ? objectPermissions(bucket, 'objects', valuesActions[objects]) : []),
  ...(files ? tablePermissions(objectsTable.tableArn, filesActions[files]) : []),
  ...(files ? objectPermissions(bucket, 'files', fileObjectActions[files]) : []),
  ...(tables ? tablePermissions(objectsTable.tableArn, tablesActions[tables]) : []),
  ...(tables ? objectPermissions(bucket, 'tables', tableObjectActions[tables]) : []),
  ...(costs ? tablePermissions(costsTable.tableArn, costsActions[costs]) : []),
  ...(feedback ? tablePermissions(feedbackTable.tableArn, feedbackActions[feedback]) : []),
  ...(feedback ? objectPermissions(bucket, 'feedback', feedbackObjectActions[feedback]) : []),
  ...(rollups ? tablePermissions(rollupsTable.tableArn, rollupsActions[rollups]) : []),
];

/** The environment of a function that reads what streams refer to. */
export const readerEnvironment = (
  { shards, retentionDays }: Config,
  { calls, feedback, costs, payloads }: Storage,
): Record<string, string> => ({
  SHARDS: shards.join(','),
  ...(retentionDays !== undefined && { RETENTION_DAYS: String(retentionDays) }),
  [tables.calls.variable]: calls.tableName,
  [tables.feedback.variable]: feedback.tableName,
  [tables.costs.variable]: costs.tableName,
  PAYLOADS_BUCKET: payloads.bucketName,
});

/**
 * What such a function may do: read the other half of a call, payloads whose header lacks the
 * usage, and prices. Records have all of feedback that is read.
 */
export const readerPermissions = (calls: CallsOfStreams, storage: Storage): Permission[] =>
  storePermissions({ calls, payloads: 'read', costs: 'read' }, storage);
