import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamodbClient, type Table } from '../../core/foundations/storage/index.ts';
import { tables } from '../../core/foundations/storage/tables.ts';
import { defaultServiceName, dialectOf, serviceNameIn } from '../../core/foundations/wire/index.ts';
import { settings } from '../../lib/config.ts';
import { Failure } from './failure.ts';
import { readJson } from './json.ts';
import { runningService } from './local-service.ts';
import type { KeysLocation } from './options.ts';

/** The stack output with the name of the keys' table. */
const keysTableOutput = tables.keys.output;

/**
 * Finds the table of keys. The caller destroys its client.
 *
 * @param root the project's folder, absolute
 * @throws Failure if there is no such stack or local service; the SDK's error if AWS refuses
 */
export const findTable = async (location: KeysLocation, root: string): Promise<Table> => {
  switch (location.kind) {
    case 'table':
      return { client: dynamodbClient(), name: location.name };
    case 'stack':
      return { name: await tableOfStack(location.name), client: dynamodbClient() };
    case 'local':
      return localTable(location.port, root);
  }
};

const tableOfStack = async (stack: string): Promise<string> => {
  // Only operators of deployed stacks need it, and it loads slowly.
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient();
  try {
    const answer = await client.send(new DescribeStacksCommand({ StackName: stack }));
    const outputs = answer.Stacks?.[0]?.Outputs ?? [];
    const table = outputs.find(({ OutputKey }) => OutputKey === keysTableOutput)?.OutputValue;
    if (table === undefined)
      throw new Failure(
        `the stack ${stack} has no output ${keysTableOutput}: check that it is this service and deployed`,
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
    // DynamoDB Local requires credentials and accepts any.
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 2,
  });
  return { client, name: tables.keys };
};

/** What the command needs to know of a service. */
export interface ServiceFacts {
  /** Its name, which every key starts with. */
  readonly service: string;
  /**
   * How long a revoked key may still be accepted, in seconds; absent if the configuration does not
   * say.
   */
  readonly cacheSeconds?: number;
}

/**
 * Facts about the service of a location. The local service states them in its file, cdk.json for
 * others.
 *
 * @param root the project's folder, absolute
 * @throws Failure if there is no such local service, or cdk.json cannot be read
 */
export const factsOf = async (location: KeysLocation, root: string): Promise<ServiceFacts> => {
  if (location.kind !== 'local') return configured(root);
  const { service, authorizerCacheSeconds } = await runningService(location.port, root);
  return { service, cacheSeconds: authorizerCacheSeconds };
};

const configured = async (root: string): Promise<ServiceFacts> => {
  const config = (await readJson(join(root, 'cdk.json'))) as
    | { context?: { serviceName?: unknown; dialect?: unknown; authorizerCacheSeconds?: unknown } }
    | undefined;
  const { serviceName: name, dialect, authorizerCacheSeconds: seconds } = config?.context ?? {};
  const cache = settings.shape.authorizerCacheSeconds.safeParse(seconds ?? undefined);
  return {
    service: serviceNameIn(dialectOf(String(dialect)), typeof name === 'string' ? name : defaultServiceName),
    ...(cache.success && { cacheSeconds: cache.data }),
  };
};
