import { CfnElement, Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { Access, Route } from './routes.ts';
import type { Storage } from './storage.ts';

/** Something that a function may do: these actions on this ARN. */
export interface Grant {
  readonly actions: readonly string[];
  readonly resource: string;
  /** Where the ARN ends in a wildcard: what cdk-nag calls it, and why it is no narrower. */
  readonly wildcard?: { readonly finding: string; readonly reason: string };
}

const reads = (access: Access | undefined): boolean => access === 'read' || access === 'readwrite';
const writes = (access: Access | undefined): boolean => access === 'write' || access === 'readwrite';

/** cdk-nag writes the ARN of a resource as `<LogicalId.Arn>`. */
const findingOf = (resource: IConstruct, path: string): string => {
  const child = resource.node.defaultChild;
  if (!child || !CfnElement.isCfnElement(child)) throw new Error(`${resource.node.path} is no resource`);
  return `<${Stack.of(resource).getLogicalId(child)}.Arn>${path}`;
};

const callsGrants = (access: Access | undefined, { calls }: Storage): Grant[] => {
  const actions = [
    ...(reads(access) ? ['dynamodb:BatchGetItem', 'dynamodb:Query'] : []),
    // PartiQLInsert is what BatchExecuteStatement needs for its INSERTs.
    ...(writes(access) ? ['dynamodb:BatchWriteItem', 'dynamodb:PutItem', 'dynamodb:PartiQLInsert'] : []),
  ];
  const table: Grant = { actions, resource: calls.tableArn };
  const indexes: Grant = {
    actions: ['dynamodb:Query'],
    resource: `${calls.tableArn}/index/*`,
    wildcard: {
      finding: findingOf(calls, '/index/*'),
      reason: 'Whoever may read the table may read its indexes, which hold nothing else.',
    },
  };
  return [...(actions.length > 0 ? [table] : []), ...(reads(access) ? [indexes] : [])];
};

const payloadsGrants = (access: Access | undefined, { payloads }: Storage): Grant[] => {
  const actions = [...(reads(access) ? ['s3:GetObject'] : []), ...(writes(access) ? ['s3:PutObject'] : [])];
  const objects: Grant = {
    actions,
    resource: payloads.arnForObjects('segments/*'),
    wildcard: {
      finding: findingOf(payloads, '/segments/*'),
      reason:
        'Objects are named after the segments in them; the actions are all that can be done to one here.',
    },
  };
  // Without it S3 answers 403 for an object that does not exist, and a reader could not tell.
  const list: Grant = { actions: ['s3:ListBucket'], resource: payloads.bucketArn };
  return [...(actions.length > 0 ? [objects] : []), ...(reads(access) ? [list] : [])];
};

/** What a route's function may do to its stores: what the route says, and nothing else. */
export const grantsOf = ({ stores }: Route, storage: Storage): Grant[] => [
  ...callsGrants(stores.calls, storage),
  ...payloadsGrants(stores.payloads, storage),
];
