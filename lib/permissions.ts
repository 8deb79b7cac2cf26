import { CfnElement, Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { Access, PlainAccess, Route, Stores } from './routes.ts';
import type { Storage } from './storage.ts';

/** Something that a function may do: these actions on this ARN. */
export interface Permission {
  readonly actions: readonly string[];
  readonly resource: string;
  /** Where the ARN ends in a wildcard: what cdk-nag calls it, and why it is no narrower. */
  readonly wildcard?: { readonly finding: string; readonly reason: string };
}

/** cdk-nag writes the ARN of a resource as `<LogicalId.Arn>`. */
const findingOf = (resource: IConstruct, path: string): string => {
  const child = resource.node.defaultChild;
  if (!child || !CfnElement.isCfnElement(child)) throw new Error(`${resource.node.path} is no resource`);
  return `<${Stack.of(resource).getLogicalId(child)}.Arn>${path}`;
};

const callsActions: Readonly<Record<Access, readonly string[]>> = {
  read: ['dynamodb:BatchGetItem', 'dynamodb:Query'],
  // Writing looks up the starts that it depends on; PartiQLInsert is what BatchExecuteStatement needs for its INSERTs.
  write: ['dynamodb:BatchGetItem', 'dynamodb:BatchWriteItem', 'dynamodb:PutItem', 'dynamodb:PartiQLInsert'],
  update: ['dynamodb:BatchGetItem', 'dynamodb:PutItem'],
  // Segments that hold others' payloads as well are put again without those of the deleted.
  delete: ['dynamodb:BatchGetItem', 'dynamodb:PutItem', 'dynamodb:DeleteItem'],
};

const callsPermissions = (access: Access, { calls }: Storage): Permission[] => {
  const table: Permission = { actions: callsActions[access], resource: calls.tableArn };
  const indexes: Permission = {
    actions: ['dynamodb:Query'],
    resource: `${calls.tableArn}/index/*`,
    wildcard: {
      finding: findingOf(calls, '/index/*'),
      reason: 'Whoever may read the table may read its indexes, which hold nothing else.',
    },
  };
  // Descendants are found in their traces.
  const traces: Permission = { actions: ['dynamodb:Query'], resource: `${calls.tableArn}/index/by_trace` };
  if (access === 'read') return [table, indexes];
  return access === 'delete' ? [table, traces] : [table];
};

type PayloadAccess = NonNullable<Stores['payloads']>;

const payloadsActions: Readonly<Record<PayloadAccess, readonly string[]>> = {
  read: ['s3:GetObject'],
  write: ['s3:PutObject'],
  // Those on condition of an ETag need s3:GetObject too.
  delete: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
};

const payloadsPermissions = (access: PayloadAccess, { payloads }: Storage): Permission[] => {
  const objects: Permission = {
    actions: payloadsActions[access],
    resource: payloads.arnForObjects('segments/*'),
    wildcard: {
      finding: findingOf(payloads, '/segments/*'),
      reason:
        'Objects are named after the segments in them; the actions are all that can be done to one here.',
    },
  };
  // Without it S3 answers 403 for an object that does not exist, and a reader could not tell.
  const list: Permission = { actions: ['s3:ListBucket'], resource: payloads.bucketArn };
  return access === 'write' ? [objects] : [objects, list];
};

const objectsActions: Readonly<Record<PlainAccess, readonly string[]>> = {
  read: ['dynamodb:BatchGetItem', 'dynamodb:Query'],
  // PutItem and DeleteItem are what transactions are made of; BatchWriteItem puts and deletes notes on values in the bucket.
  write: [
    'dynamodb:BatchGetItem',
    'dynamodb:Query',
    'dynamodb:BatchWriteItem',
    'dynamodb:PutItem',
    'dynamodb:DeleteItem',
  ],
};

const objectsPermissions = (access: PlainAccess, { objects, payloads }: Storage): Permission[] => {
  const table: Permission = { actions: objectsActions[access], resource: objects.tableArn };
  const values: Permission = {
    actions: access === 'read' ? ['s3:GetObject'] : ['s3:PutObject', 's3:DeleteObject'],
    resource: payloads.arnForObjects('objects/*'),
    wildcard: {
      finding: findingOf(payloads, '/objects/*'),
      reason:
        'Values are named after their versions; whoever makes versions clears away what did not become one.',
    },
  };
  const list: Permission = { actions: ['s3:ListBucket'], resource: payloads.bucketArn };
  return access === 'read' ? [table, values, list] : [table, values];
};
const costsActions: Readonly<Record<PlainAccess, readonly string[]>> = {
  read: ['dynamodb:Query'],
  // Prices are inserted and deleted, never looked up first or replaced.
  write: ['dynamodb:BatchWriteItem', 'dynamodb:PartiQLInsert'],
};

const costsPermissions = (access: PlainAccess, { costs }: Storage): Permission[] => [
  { actions: costsActions[access], resource: costs.tableArn },
];

/** What a route's function may do to its stores: what the route says, and nothing else. */
export const permissionsOf = ({ stores }: Route, storage: Storage): Permission[] => [
  ...(stores.calls ? callsPermissions(stores.calls, storage) : []),
  ...(stores.payloads ? payloadsPermissions(stores.payloads, storage) : []),
  ...(stores.objects ? objectsPermissions(stores.objects, storage) : []),
  ...(stores.costs ? costsPermissions(stores.costs, storage) : []),
];
