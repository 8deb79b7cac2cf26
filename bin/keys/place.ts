import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamodbClient, type Table } from '../../core/storage/index.ts';
import { defaultServiceName } from '../../core/wire/index.ts';
import type { Place } from './options.ts';

/** Something that stands in the way of the command; its message says what to do about it. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** The stack output that names the table of keys. */
const keysTableOutput = 'KeysTable';

/**
 * Finds the table of keys, and makes a client to reach it with, which the caller destroys.
 *
 * @param root the project's folder, absolute
 * @throws Failure where there is no such stack or local service; the SDK's error where AWS refuses to say
 */
export const findTable = async (place: Place, root: string): Promise<Table> => {
  switch (place.kind) {
    case 'table':
      return { client: dynamodbClient(), name: place.name };
    case 'stack':
      return { name: await tableOfStack(place.name), client: dynamodbClient() };
    case 'local':
      return localTable(place.port, root);
  }
};

const tableOfStack = async (stack: string): Promise<string> => {
  // Only operators of deployed stacks need it, and it takes its time to load.
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient();
  try {
    const answer = await client.send(new DescribeStacksCommand({ StackName: stack }));
    const outputs = answer.Stacks?.[0]?.Outputs ?? [];
    const table = outputs.find(({ OutputKey }) => OutputKey === keysTableOutput)?.OutputValue;
    if (table === undefined)
      throw new Failure(
        `the stack ${stack} has no output ${keysTableOutput}: is it this service, and deployed?`,
      );
    return table;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ValidationError') throw error;
    throw new Failure(
      `no stack ${stack} in ${await client.config.region()}: deploy it (npm run deploy), name it (--stack NAME), ` +
        'set AWS_REGION to where it is, or use the local service (--local)',
      { cause: error },
    );
  } finally {
    client.destroy();
  }
};

/** What the local service writes down about itself while it runs, as far as it matters here. */
interface LocalService {
  readonly dynamodb: string;
  readonly tables: { readonly keys: string };
}

const isLocalService = (value: unknown): value is LocalService => {
  const { dynamodb, tables } = (value ?? {}) as { dynamodb?: unknown; tables?: { keys?: unknown } | null };
  return typeof dynamodb === 'string' && typeof tables?.keys === 'string';
};

const localTable = async (port: number, root: string): Promise<Table> => {
  const file = join('.local', `${port}.json`);
  const service = await readJson(join(root, file));
  if (!isLocalService(service))
    throw new Failure(
      `no local service on port ${port} (nothing in ${file}): start it (npm start), or name its port (--local=PORT)`,
    );
  const client = new DynamoDBClient({
    endpoint: service.dynamodb,
    region: 'us-east-1',
    // DynamoDB Local asks for credentials, and takes any.
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 2,
  });
  return { client, name: service.tables.keys };
};

/** The service's name as configured: `serviceName` of cdk.json's context in the project's folder, else `svc`. */
export const configuredService = async (root: string): Promise<string> => {
  const config = (await readJson(join(root, 'cdk.json'))) as
    | { context?: { serviceName?: unknown } }
    | undefined;
  const name = config?.context?.serviceName;
  return typeof name === 'string' ? name : defaultServiceName;
};

const readJson = async (path: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Failure(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
};
