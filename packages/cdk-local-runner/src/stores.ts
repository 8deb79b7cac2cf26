import { devNull } from 'node:os';
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  UpdateTableCommand,
  type UpdateTableCommandInput,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import type { Credentials } from 'aws-stand-in';
import { localRegion, type StackSpec, type TableSpec } from './template/index.ts';

/** Credentials for stores that take any signature, and that AWS refuses. */
export const localCredentials: Credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/**
 * The environment that directs an AWS SDK to the local stores, and never to AWS.
 *
 * @param credentials for both stores. @default - those for stores that take any
 */
export const storeEnvironment = (
  dynamodb: string,
  s3: string,
  credentials: Credentials = localCredentials,
): Record<string, string> => ({
  AWS_REGION: localRegion,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
  AWS_ENDPOINT_URL_S3: s3,
  // A function has no such files, and those of whoever runs the service are not meant for it.
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
});

const abortedBy = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : {});

/** Adds to a kept table the stream that it was made without. */
const switchOnStream = async (
  client: DynamoDBClient,
  request: UpdateTableCommandInput,
  signal?: AbortSignal,
): Promise<void> => {
  const { TableName } = request;
  const { Table } = await client.send(new DescribeTableCommand({ TableName }), abortedBy(signal));
  if (!Table?.StreamSpecification?.StreamEnabled)
    await client.send(new UpdateTableCommand(request), abortedBy(signal));
};

const createTable = async (
  client: DynamoDBClient,
  { name, properties }: TableSpec,
  signal?: AbortSignal,
): Promise<void> => {
  const { TimeToLiveSpecification, StreamSpecification: view, ...schema } = properties;
  const stream = view && { StreamSpecification: { ...view, StreamEnabled: true } };
  const request = { TableName: name, BillingMode: 'PAY_PER_REQUEST', ...schema, ...stream } as const;
  try {
    await client.send(new CreateTableCommand(request), abortedBy(signal));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    if (stream) await switchOnStream(client, { TableName: name, ...stream }, signal);
    return;
  }
  if (TimeToLiveSpecification)
    await client.send(
      new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }),
      abortedBy(signal),
    );
};

const createBucket = async (client: S3Client, name: string, signal?: AbortSignal): Promise<void> => {
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }), abortedBy(signal));
  } catch (error) {
    if (!(error instanceof Error) || !error.name.startsWith('BucketAlready')) throw error;
  }
};

/**
 * Creates the tables of a stack unless they exist.
 *
 * @param signal cancels the requests
 */
export const createTables = async (
  { tables }: Pick<StackSpec, 'tables'>,
  client: DynamoDBClient,
  signal?: AbortSignal,
): Promise<void> => {
  await Promise.all(tables.map((table) => createTable(client, table, signal)));
};

/**
 * Creates the buckets of a stack unless they exist.
 *
 * @param signal cancels the requests
 */
export const createBuckets = async (
  { buckets }: Pick<StackSpec, 'buckets'>,
  client: S3Client,
  signal?: AbortSignal,
): Promise<void> => {
  await Promise.all(buckets.map((bucket) => createBucket(client, bucket, signal)));
};
