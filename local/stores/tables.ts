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
import type { StackSpec } from '../template/stack.ts';
import type { TableSpec } from '../template/stores.ts';

const abortedBy = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : {});

/** Gives a kept table the stream that it was made without. */
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

/** Creates a table unless it exists. */
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

/** Creates a bucket unless it exists. */
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

/** Creates the tables and buckets of a stack unless they exist. */
export const createStores = async (
  stack: Pick<StackSpec, 'tables' | 'buckets'>,
  dynamodb: DynamoDBClient,
  s3: S3Client,
): Promise<void> => {
  await Promise.all([createTables(stack, dynamodb), createBuckets(stack, s3)]);
};
