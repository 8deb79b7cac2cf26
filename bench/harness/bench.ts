import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { dynamodbClient, type Store, type Table } from '../../core/foundations/storage/index.ts';
import type { NamedTable } from '../../core/foundations/storage/tables.ts';
import { wireNames } from '../../core/foundations/wire/index.ts';
import { startDynamodb } from '../../local/stores/dynamodb.ts';
import { localCredentials, localRegion } from '../../local/stores/store.ts';
import { createTables } from '../../local/stores/tables.ts';
import { synthesize } from '../../local/synthesize.ts';
import { readStack, tableNameOf } from '../../local/template/stack.ts';
import { type CapacityMeter, meterCapacity } from './capacity.ts';
import { type TableSchema, tableSchema } from './item-size.ts';

/** The wire names of the service in the bench. */
export const names = wireNames('svc');

/** The longest answer of DynamoDB Local on a busy machine, in ms. */
const requestTimeoutMs = 120_000;

/** Tables with the deployed schema on DynamoDB Local, until disposal. */
export interface Bench extends AsyncDisposable {
  /** What the bench runs on. */
  readonly environment: BenchEnvironment;
  /** Counts what the stores made here use, by table and index. */
  readonly capacity: CapacityMeter;
  /** Makes a store of its own, on an empty table. */
  readonly newStore: (table: NamedTable) => Promise<Store>;
  /** The keys and indexes of a table that was made here. */
  readonly schemaOf: (table: Table) => TableSchema;
}

/** What a bench runs on: a running store and a synthesized stack. */
export interface BenchEnvironment {
  /** The URL of DynamoDB Local. */
  readonly dynamodb: string;
  /** The folder of the synthesized stack. */
  readonly assembly: string;
  /** The folder of all handlers' bundles. @default - they are made where they are needed */
  readonly bundles?: string;
}

/**
 * Opens a bench.
 *
 * @param existing what to run on. @default - DynamoDB Local is started and the stack synthesized
 */
export const openBench = async (existing?: BenchEnvironment): Promise<Bench> => {
  const cleanup = new AsyncDisposableStack();
  const environment = existing ?? (await startAll(cleanup));
  const { dynamodb, assembly } = environment;
  const config = { region: localRegion, credentials: localCredentials };
  // The SDK must not repeat requests: a repeated put finds its index rows and takes fewer units.
  const requestHandler = new NodeHttpHandler({ requestTimeout: requestTimeoutMs });
  const client = dynamodbClient({ ...config, endpoint: dynamodb, requestHandler, maxAttempts: 1 });
  cleanup.defer(() => client.destroy());
  // Nothing stored here is too big for an item, so the bucket is never used.
  const bucket = { client: new S3Client(config), name: 'none' };
  const schemas = new Map<string, TableSchema>();
  const run = Math.random().toString(36).slice(2, 10);
  const newTable = async (table: NamedTable): Promise<Table> => {
    const stack = readStack(assembly, `bench-${run}-${schemas.size}`);
    const name = tableNameOf(stack, table);
    const specs = stack.tables.filter((spec) => spec.name === name);
    await createTables({ tables: specs }, client);
    for (const spec of specs) schemas.set(name, tableSchema(spec));
    return { client, name };
  };
  const schemaOf = ({ name }: Pick<Table, 'name'>): TableSchema => {
    const schema = schemas.get(name);
    if (!schema) throw new Error(`the bench has no table ${name}`);
    return schema;
  };
  const newStore = async (table: NamedTable): Promise<Store> => ({
    table: await newTable(table),
    bucket,
    names,
    shards: [4],
  });
  return {
    environment,
    capacity: meterCapacity(client, schemaOf),
    newStore,
    schemaOf,
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
};

const startAll = async (cleanup: AsyncDisposableStack): Promise<BenchEnvironment> => {
  const dynamodb = await startDynamodb();
  cleanup.defer(() => dynamodb.stop());
  const assembly = mkdtempSync(join(tmpdir(), 'pennytrace-bench-'));
  cleanup.defer(() => rmSync(assembly, { recursive: true }));
  await synthesize(assembly);
  return { dynamodb: dynamodb.endpoint, assembly };
};
