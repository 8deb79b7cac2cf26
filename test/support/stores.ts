import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { inject } from 'vitest';
import { localCredentials, localRegion, storeEnvironment } from '../../local/store.ts';
import { createBucket, createTable, type TableProperties } from '../../local/tables.ts';
import { assembly } from './assembly.ts';

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

interface Template {
  readonly Resources: Record<string, { readonly Properties: TableProperties }>;
  readonly Outputs: Record<string, { readonly Value: { readonly Ref: string } }>;
}

/** The table that an output of the synthesized stack names: tests run on the deployed schema. */
const tableOf = (output: string): TableProperties => {
  const template = JSON.parse(readFileSync(join(assembly(), 'Pennytrace.template.json'), 'utf8')) as Template;
  const resource = template.Resources[template.Outputs[output]?.Value.Ref ?? ''];
  if (!resource) throw new Error(`the stack has no output ${output} that names a table`);
  return resource.Properties;
};

/** Makes fresh tables and a fresh bucket, of names that nobody else has, in the stores of this test run. */
export const createStores = async (): Promise<Stores> => {
  const endpoints = inject('stores');
  const client = { region: localRegion, credentials: localCredentials };
  const dynamodb = new DynamoDBClient({ ...client, endpoint: endpoints.dynamodb });
  const s3 = new S3Client({ ...client, endpoint: endpoints.s3 });
  const name = `test-${randomUUID()}`;
  const [callsTable, keysTable, bucket] = [`${name}-calls`, `${name}-keys`, name];
  await Promise.all([
    createTable(dynamodb, callsTable, tableOf('CallsTable')),
    createTable(dynamodb, keysTable, tableOf('KeysTable')),
    createBucket(s3, bucket),
  ]);
  const environment = storeEnvironment(endpoints.dynamodb, endpoints.s3);
  return { dynamodb, s3, callsTable, keysTable, bucket, environment };
};
