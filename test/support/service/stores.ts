import { randomUUID } from 'node:crypto';
import type { DynamoDBClient, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { createBuckets, createTables, localCredentials, storeEnvironment } from 'cdk-local-runner';
import { getOutput, localRegion, readStack } from 'cdk-local-runner/template';
import { inject } from 'vitest';
import { dynamodbClient, type Store } from '../../../foundations/storage/index.ts';
import type { NamedTable } from '../../../foundations/storage/tables.ts';
import { getTableName } from '../../../local/stack.ts';
import { assembly } from '../stack/assembly.ts';
import { shards } from './shards.ts';

/** Empty stores of one test file. */
export interface Stores {
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly callsTable: string;
  readonly objectsTable: string;
  readonly keysTable: string;
  readonly bucket: string;
  readonly costsTable: string;
  readonly feedbackTable: string;
  readonly rollupsTable: string;
  readonly auditTable: string;
  /**
   * What AWS SDK clients, in this process or another, need in their environment to find these
   * stores.
   */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Puts the same signature on all requests: local stores don't check it, and to make one takes time.
 * The functions of a service sign as they do on AWS.
 */
const signer: Extract<DynamoDBClientConfig['signer'], { sign: unknown }> = {
  sign: async (request) => {
    const scope = `local/20260101/${localRegion}/dynamodb/aws4_request`;
    request.headers.authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`;
    return request;
  },
};

/**
 * Makes the stack's tables and bucket, empty and under names that nobody else has, in the stores of
 * this test run. What expires stays: a test may set the clock of its process to some other day, while
 * the store would go by its own.
 *
 * @param only the one table to make: each takes some time. @default - all of them
 */
export const createStores = async (only?: NamedTable): Promise<Stores> => {
  const endpoints = inject('stores');
  const client = { region: localRegion, credentials: localCredentials };
  // The service's own client, but that it waits as long as a busy machine needs.
  const requestHandler = new NodeHttpHandler();
  const dynamodb = dynamodbClient({ ...client, endpoint: endpoints.dynamodb, requestHandler, signer });
  const s3 = new S3Client({ ...client, endpoint: endpoints.s3 });
  // The deployed schema, under names of our own.
  const stack = readStack(assembly(), `test-${randomUUID().slice(0, 13)}`);
  const wanted = only && getTableName(stack, only);
  const tables = stack.tables
    .filter(({ name }) => wanted === undefined || name === wanted)
    .map(({ name, properties: { TimeToLiveSpecification: _, ...kept } }) => ({ name, properties: kept }));
  await Promise.all([createTables({ tables }, dynamodb), createBuckets(stack, s3)]);
  const environment = storeEnvironment(endpoints.dynamodb, endpoints.s3);
  return {
    dynamodb,
    s3,
    callsTable: getTableName(stack, 'calls'),
    objectsTable: getTableName(stack, 'objects'),
    keysTable: getTableName(stack, 'keys'),
    bucket: getOutput(stack, 'PayloadsBucket'),
    costsTable: getTableName(stack, 'costs'),
    feedbackTable: getTableName(stack, 'feedback'),
    rollupsTable: getTableName(stack, 'bookkeeping'),
    auditTable: getTableName(stack, 'audit'),
    environment,
  };
};

/** The store of one of the tables, with the settings of most tests. */
export const getStore = ({ dynamodb, s3, bucket }: Stores, table: string): Store => ({
  table: { client: dynamodb, name: table },
  bucket: { client: s3, name: bucket },
  shards: [shards],
});
