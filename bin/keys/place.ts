import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamodbClient, type Table } from '../../core/storage/index.ts';
import { defaultServiceName } from '../../core/wire/index.ts';
import { settings } from '../../lib/config.ts';
import { Failure } from './failure.ts';
import { readJson } from './json.ts';
import { runningService } from './local-service.ts';
import type { Place } from './options.ts';

/** The stack output that names the table of keys. */
const keysTableOutput = 'KeysTable';

/**
 * Finds the table of keys, and makes a client to reach it with, which the caller destroys.
 *
 * @param root the project's folder, absolute
 * @throws Failure where there is no such stack or local service; the SDK's error where AWS refuses
 * to say
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

const localTable = async (port: number, root: string): Promise<Table> => {
  const { dynamodb, tables } = await runningService(port, root);
  const client = new DynamoDBClient({
    endpoint: dynamodb,
    region: 'us-east-1',
    // DynamoDB Local asks for credentials, and takes any.
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 2,
  });
  return { client, name: tables.keys };
};

/** What the command needs to know of a service beside its table of keys. */
export interface ServiceFacts {
  /** Its name, which every key of it begins with. */
  readonly service: string;
  /**
   * How many seconds a revoked key may still be taken; absent where the configuration does not say.
   */
  readonly cacheSeconds?: number;
}

/**
 * What is known of the service at a place: the local one says it itself, of others the project's
 * cdk.json does.
 *
 * @param root the project's folder, absolute
 * @throws Failure where there is no such local service, or cdk.json cannot be read
 */
export const factsOf = async (place: Place, root: string): Promise<ServiceFacts> => {
  if (place.kind !== 'local') return configured(root);
  const { service, authorizerCacheSeconds } = await runningService(place.port, root);
  return { service, cacheSeconds: authorizerCacheSeconds };
};

const configured = async (root: string): Promise<ServiceFacts> => {
  const config = (await readJson(join(root, 'cdk.json'))) as
    | { context?: { serviceName?: unknown; authorizerCacheSeconds?: unknown } }
    | undefined;
  const { serviceName: name, authorizerCacheSeconds: seconds } = config?.context ?? {};
  const cache = settings.shape.authorizerCacheSeconds.safeParse(seconds ?? undefined);
  return {
    service: typeof name === 'string' ? name : defaultServiceName,
    ...(cache.success && { cacheSeconds: cache.data }),
  };
};
