/**
 * `npm run remove -- --stack <name>`: the operator's command for removing a stack with its data, or what a first
 * deployment that failed has left. See docs/operations.md.
 */

import {
  CloudFormationClient,
  DeleteStackCommand,
  DescribeStacksCommand,
  paginateListStackResources,
  paginateListStacks,
  type Stack,
  type StackResourceSummary,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import {
  DeleteTableCommand,
  type DynamoDBClient,
  ScanCommand,
  UpdateTableCommand,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteBucketCommand,
  DeleteObjectsCommand,
  ListObjectsV2Command,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import { AwsError, askAws, askJson } from '../foundations/aws/ask.ts';
import { dynamodbClient, requestBudget, s3Client } from '../foundations/storage/index.ts';
import { tables as declaredTables } from '../foundations/storage/tables.ts';
import { isJsonObject } from '../foundations/wire/index.ts';
import {
  type CommandOutput,
  Failure,
  parseFlags,
  processOutput,
  root,
  runCommand,
  UsageError,
} from './common.ts';
import { auditOperator } from './operator.ts';

export const help = `Remove a stack with the tables, buckets and people that CloudFormation leaves.

  npm run remove -- --stack NAME --failed [--yes]
  npm run remove -- --stack NAME --all-data [--yes]

  --stack NAME   the stack; one that is deleted already is found, too, for 90 days
  --failed       after a first deployment that failed: the stack, and what it left, if that is empty
  --all-data     the stack and everything that is stored in it, for good
  --yes          do it (default: only list what would be deleted)

The command can be repeated. Exit code: 0 done, 1 failed, 2 wrong usage.`;

const options = {
  stack: { type: 'string' },
  failed: { type: 'boolean', default: false },
  'all-data': { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
} as const;

interface RemoveOptions {
  readonly stack: string;
  /** Whether only what is empty may go. */
  readonly onlyEmpty: boolean;
  readonly yes: boolean;
}

/** @throws UsageError if an argument is wrong */
const parseOptions = (argv: readonly string[]): RemoveOptions => {
  const { stack, failed, yes, 'all-data': allData } = parseFlags({ args: [...argv], options }).values;
  if (stack === undefined) throw new UsageError('name the stack: --stack Pennytrace');
  if (failed === allData) throw new UsageError('give one of --failed and --all-data');
  return { stack, onlyEmpty: failed, yes };
};

interface Clients {
  readonly cloudFormation: CloudFormationClient;
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
}

/** The states of a stack whose first deployment failed. It has never served anybody. */
const failedStates: ReadonlySet<string> = new Set([
  'CREATE_FAILED',
  'ROLLBACK_COMPLETE',
  'ROLLBACK_FAILED',
  'DELETE_FAILED',
  'DELETE_COMPLETE',
]);

type Found = Pick<Stack, 'Outputs'> & { readonly id: string; readonly status: string };

/**
 * The stack of a name, or the last one of that name that is deleted.
 *
 * @throws Failure if there is none
 */
const findStack = async (client: CloudFormationClient, name: string): Promise<Found> => {
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
    if (stack?.StackId && stack.StackStatus)
      return {
        id: stack.StackId,
        status: stack.StackStatus,
        ...(stack.Outputs && { Outputs: stack.Outputs }),
      };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ValidationError') throw error;
  }
  // The latest comes first.
  const deleted = { StackStatusFilter: ['DELETE_COMPLETE' as const] };
  for await (const { StackSummaries = [] } of paginateListStacks({ client }, deleted)) {
    const found = StackSummaries.find(({ StackName }) => StackName === name);
    if (found?.StackId) return { id: found.StackId, status: 'DELETE_COMPLETE' };
  }
  throw new Failure(
    `no stack ${name} in ${await client.config.region()}: name it (--stack), or set AWS_REGION`,
  );
};

/** What a stack leaves: the names of its tables, buckets and parameters, and the ids of user pools. */
interface Kept {
  readonly tables: readonly string[];
  readonly userPools: readonly string[];
  readonly buckets: readonly string[];
  readonly parameters: readonly string[];
}

const findKept = async (client: CloudFormationClient, { id, Outputs = [] }: Found): Promise<Kept> => {
  const resources: StackResourceSummary[] = [];
  for await (const page of paginateListStackResources({ client }, { StackName: id }))
    resources.push(...(page.StackResourceSummaries ?? []));
  const findNames = (type: string): string[] =>
    resources.flatMap(({ ResourceType, ResourceStatus, PhysicalResourceId }) =>
      ResourceType === type && ResourceStatus !== 'DELETE_COMPLETE' && PhysicalResourceId
        ? [PhysicalResourceId]
        : [],
    );
  // The bucket of analytics that were switched off is not the stack's, but its data.
  const former = Outputs.flatMap(({ OutputKey, OutputValue }) =>
    OutputKey === 'AnalyticsBucket' && OutputValue ? [OutputValue] : [],
  );
  return {
    tables: findNames('AWS::DynamoDB::Table'),
    userPools: findNames('AWS::Cognito::UserPool'),
    buckets: [...new Set([...findNames('AWS::S3::Bucket'), ...former])],
    parameters: findNames('AWS::SSM::Parameter'),
  };
};

const gone: ReadonlySet<string> = new Set([
  'ResourceNotFoundException',
  'NoSuchBucket',
  'NotFound',
  'ParameterNotFound',
]);

/** What a request answers; undefined if what it is about is gone. */
const unlessGone = async <T>(request: Promise<T>): Promise<T | undefined> => {
  try {
    return await request;
  } catch (error) {
    if (error instanceof AwsError ? gone.has(error.code) : error instanceof Error && gone.has(error.name))
      return undefined;
    throw error;
  }
};

/** Asks Cognito for an operation on a user pool; undefined if the pool is gone, or the answer is empty. */
const askCognito = async (
  { config }: CloudFormationClient,
  operation: 'ListUsers' | 'UpdateUserPool' | 'DeleteUserPool',
  body: { readonly UserPoolId: string; readonly [field: string]: unknown },
): Promise<unknown> => {
  const { AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER, AWS_ENDPOINT_URL } = process.env;
  const { region, credentials } = config;
  const endpoint = AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER ?? AWS_ENDPOINT_URL;
  const service = { service: 'cognito-idp', region: await region(), credentials, endpoint };
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': `AWSCognitoIdentityProviderService.${operation}`,
  };
  const answer = await unlessGone(askAws(service, '/', headers, JSON.stringify(body), requestBudget(20_000)));
  // A deletion is answered with nothing.
  return answer ? JSON.parse(answer) : undefined;
};

/** The names of tables, buckets and user pools that hold something. */
const filled = async (
  { dynamodb, s3, cloudFormation }: Clients,
  { tables, buckets, userPools }: Kept,
): Promise<string[]> => {
  const names: string[] = [];
  for (const TableName of tables) {
    const page = await unlessGone(
      dynamodb.send(new ScanCommand({ TableName, Limit: 1, ConsistentRead: true, Select: 'COUNT' })),
    );
    if (page?.Count) names.push(TableName);
  }
  for (const Bucket of buckets) {
    const page = await unlessGone(s3.send(new ListObjectsV2Command({ Bucket, MaxKeys: 1 })));
    if (page?.Contents?.length) names.push(Bucket);
  }
  for (const UserPoolId of userPools) {
    const page = await askCognito(cloudFormation, 'ListUsers', { UserPoolId, Limit: 1 });
    if (isJsonObject(page) && Array.isArray(page.Users) && page.Users.length > 0) names.push(UserPoolId);
  }
  return names;
};

/** How long a stack, or a table, may take to be gone, in seconds. */
const maxWaitTime = 1800;

const deleteTable = async (client: DynamoDBClient, TableName: string): Promise<void> => {
  const waiting = { client, maxWaitTime, minDelay: 1, maxDelay: 10 };
  const unprotect = new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false });
  if (!(await unlessGone(client.send(unprotect)))) return;
  await waitUntilTableExists(waiting, { TableName });
  await unlessGone(client.send(new DeleteTableCommand({ TableName })));
  await waitUntilTableNotExists(waiting, { TableName });
};

const emptyBucket = async (client: S3Client, Bucket: string): Promise<void> => {
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
    const Objects = Contents.map(({ Key = '' }) => ({ Key }));
    if (Objects.length === 0) continue;
    const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } });
    const { Errors: [error] = [] } = await client.send(command);
    if (error) throw new Failure(`${Bucket} does not delete ${error.Key}: ${error.Message ?? error.Code}`);
  }
};

const deleteBucket = async (client: S3Client, Bucket: string): Promise<void> => {
  await unlessGone(emptyBucket(client, Bucket));
  await unlessGone(client.send(new DeleteBucketCommand({ Bucket })));
};

const deleteParameter = async ({ config }: CloudFormationClient, Name: string): Promise<void> => {
  const { AWS_ENDPOINT_URL_SSM, AWS_ENDPOINT_URL } = process.env;
  const { region, credentials } = config;
  const endpoint = AWS_ENDPOINT_URL_SSM ?? AWS_ENDPOINT_URL;
  const service = { service: 'ssm', region: await region(), credentials, endpoint };
  await unlessGone(askJson(service, 'AmazonSSM.DeleteParameter', { Name }, requestBudget(20_000)));
};

const deleteUserPool = async (client: CloudFormationClient, UserPoolId: string): Promise<void> => {
  await askCognito(client, 'UpdateUserPool', { UserPoolId, DeletionProtection: 'INACTIVE' });
  await askCognito(client, 'DeleteUserPool', { UserPoolId });
};

/**
 * Deletes a stack. What it keeps stays. A bucket that it should delete but that is not empty is emptied once the
 * functions are gone, and the stack deleted again.
 */
const deleteStack = async (
  { cloudFormation: client, s3 }: Clients,
  id: string,
  kept: Kept,
): Promise<void> => {
  const attempt = async (): Promise<void> => {
    await client.send(new DeleteStackCommand({ StackName: id }));
    await waitUntilStackDeleteComplete({ client, maxWaitTime, minDelay: 2, maxDelay: 15 }, { StackName: id });
  };
  try {
    await attempt();
  } catch {
    for (const bucket of kept.buckets) await unlessGone(emptyBucket(s3, bucket));
    await attempt();
  }
};

const remove = async ({ stack, onlyEmpty, yes }: RemoveOptions, clients: Clients, io: CommandOutput) => {
  const found = await findStack(clients.cloudFormation, stack);
  if (onlyEmpty && !failedStates.has(found.status))
    throw new Failure(`${stack} is ${found.status}, so its first deployment did not fail: see --all-data`);
  const kept = await findKept(clients.cloudFormation, found);
  const notEmpty = onlyEmpty ? await filled(clients, kept) : [];
  if (notEmpty.length > 0)
    throw new Failure(`these are not empty, so nothing is deleted: ${notEmpty.join(', ')}. See --all-data`);
  const { tables, buckets, parameters, userPools } = kept;
  const names = [...tables, ...buckets, ...userPools, ...parameters];
  if (!yes) {
    const what = onlyEmpty ? 'which are empty' : 'with all that is in them';
    io.out(
      [`The stack ${stack} (${found.status}) would be deleted, and these, ${what}:`, ...names].join('\n'),
    );
    io.err('Nothing was deleted. Add --yes to do it.');
    return;
  }
  const trail = found.Outputs?.find(
    ({ OutputKey }) => OutputKey === declaredTables.audit.output,
  )?.OutputValue;
  if (found.status !== 'DELETE_COMPLETE') {
    // What has never served has no trail, and stays empty until it is gone.
    if (!onlyEmpty)
      await auditOperator(
        { kind: 'stack', name: stack },
        root,
        [{ scope: '*', action: 'stack.remove', target: stack, before: { kept: names } }],
        io,
      );
    io.err(`deleting the stack ${stack}: some minutes`);
    await deleteStack(clients, found.id, kept);
  }
  for (const bucket of buckets) await deleteBucket(clients.s3, bucket);
  // What says who did it goes last.
  const inOrder = tables.toSorted((a, b) => Number(a === trail) - Number(b === trail));
  for (const table of inOrder) await deleteTable(clients.dynamodb, table);
  for (const pool of userPools) await deleteUserPool(clients.cloudFormation, pool);
  for (const parameter of parameters) await deleteParameter(clients.cloudFormation, parameter);
  io.out([`The stack ${stack} is gone, and so are these:`, ...names].join('\n'));
};

/**
 * Runs the command that removes a stack.
 *
 * @param argv the arguments after the command's name
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage (nothing was done)
 */
export const run = (argv: readonly string[], io: CommandOutput): Promise<0 | 1 | 2> =>
  runCommand({ name: 'remove', help, argv }, io, async () => {
    const options = parseOptions(argv);
    const clients = {
      cloudFormation: new CloudFormationClient(),
      dynamodb: dynamodbClient(),
      s3: await s3Client(),
    };
    try {
      await remove(options, clients, io);
    } finally {
      for (const client of Object.values(clients)) client.destroy();
    }
  });

export const main = (argv: readonly string[]): Promise<number> => run(argv, processOutput);

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
