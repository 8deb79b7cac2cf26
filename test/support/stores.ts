import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { inject } from 'vitest';
import { localCredentials, localRegion, storeEnvironment } from '../../local/store.ts';

/** Empty stores of one test file. */
export interface Stores {
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly callsTable: string;
  readonly keysTable: string;
  readonly bucket: string;
  /** What AWS SDK clients, in this process or another, need in their environment to find these stores. */
  readonly environment: Readonly<Record<string, string>>;
}

const index = (IndexName: string, partition: string, sort: string) => ({
  IndexName,
  KeySchema: [
    { AttributeName: partition, KeyType: 'HASH' as const },
    { AttributeName: sort, KeyType: 'RANGE' as const },
  ],
  Projection: { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: ['h'] },
});

const calls = (TableName: string): CreateTableCommandInput => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'p', AttributeType: 'S' },
    ...['k', 'tk', 'ts', 'rk', 'hk', 'hs'].map((AttributeName) => ({
      AttributeName,
      AttributeType: 'B' as const,
    })),
  ],
  KeySchema: [
    { AttributeName: 'k', KeyType: 'HASH' },
    { AttributeName: 'p', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    index('by_time', 'tk', 'ts'),
    index('by_trace', 'rk', 'ts'),
    index('by_thread', 'hk', 'hs'),
  ],
});

const keys = (TableName: string): CreateTableCommandInput => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
});

/** Makes fresh tables and a fresh bucket, of names that nobody else has, in the stores of this test run. */
export const createStores = async (): Promise<Stores> => {
  const endpoints = inject('stores');
  const client = { region: localRegion, credentials: localCredentials };
  const dynamodb = new DynamoDBClient({ ...client, endpoint: endpoints.dynamodb });
  const s3 = new S3Client({ ...client, endpoint: endpoints.s3 });
  const name = `test-${randomUUID()}`;
  const [callsTable, keysTable, bucket] = [`${name}-calls`, `${name}-keys`, name];
  await Promise.all([
    dynamodb.send(new CreateTableCommand(calls(callsTable))),
    dynamodb.send(new CreateTableCommand(keys(keysTable))),
    s3.send(new CreateBucketCommand({ Bucket: bucket })),
  ]);
  await dynamodb.send(
    new UpdateTimeToLiveCommand({
      TableName: callsTable,
      TimeToLiveSpecification: { AttributeName: 'x', Enabled: true },
    }),
  );
  const environment = storeEnvironment(endpoints.dynamodb, endpoints.s3);
  return { dynamodb, s3, callsTable, keysTable, bucket, environment };
};
