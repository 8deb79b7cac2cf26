import {
  CreateTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import type { StackSpec } from './template/stack.ts';
import type { TableSpec } from './template/stores.ts';

/** Creates a table on demand; one that is there already is left as it is. */
const createTable = async (client: DynamoDBClient, { name, properties }: TableSpec): Promise<void> => {
  const { TimeToLiveSpecification, ...schema } = properties;
  try {
    await client.send(new CreateTableCommand({ TableName: name, BillingMode: 'PAY_PER_REQUEST', ...schema }));
  } catch (error) {
    if (error instanceof ResourceInUseException) return;
    throw error;
  }
  if (TimeToLiveSpecification)
    await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
};

/** Creates a bucket; one that is there already is left as it is. */
const createBucket = async (client: S3Client, name: string): Promise<void> => {
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }));
  } catch (error) {
    if (!(error instanceof Error) || !error.name.startsWith('BucketAlready')) throw error;
  }
};

/** Creates the tables and buckets of a stack; what is there already is left as it is. */
export const createStores = async (
  { tables, buckets }: Pick<StackSpec, 'tables' | 'buckets'>,
  dynamodb: DynamoDBClient,
  s3: S3Client,
): Promise<void> => {
  await Promise.all([
    ...tables.map((table) => createTable(dynamodb, table)),
    ...buckets.map((bucket) => createBucket(s3, bucket)),
  ]);
};
