import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { dynamodbClient, type Store, type Table } from '../../core/storage/index.ts';
import { wireNames } from '../../core/wire/index.ts';
import { startDynamodb } from '../../local/stores/dynamodb.ts';
import { localCredentials, localRegion } from '../../local/stores/store.ts';
import { createTables } from '../../local/stores/tables.ts';
import { synthesize } from '../../local/synthesize.ts';
import { outputOf, readStack } from '../../local/template/stack.ts';
import { type CapacityMeter, meterCapacity } from './capacity.ts';
import { type TableSchema, tableSchema } from './item-size.ts';

/** The service's names on the wire, in the bench. */
export const names = wireNames('svc');

/** How long DynamoDB Local may take for an answer, on a machine with much else to do. */
const patienceMs = 120_000;

/** Tables of the deployed schema on DynamoDB Local, until it is disposed of. */
export interface Bench extends AsyncDisposable {
  /** What there is under it. */
  readonly given: Given;
  /** What the stores made here have used, by table and index. */
  readonly capacity: CapacityMeter;
  /** Makes a store of its own. */
  readonly newStore: () => Promise<Store>;
  /** Makes a feedback store of its own. */
  readonly newFeedbackStore: () => Promise<Store>;
  /** Makes a store of objects of its own. */
  readonly newObjectStore: () => Promise<Store>;
  /** Makes a store of prices of its own. */
  readonly newCostStore: () => Promise<Store>;
  /** The keys and indexes of a table that was made here. */
  readonly schemaOf: (table: Table) => TableSchema;
}

/** What there is already: stores that somebody else runs, and a stack that was synthesized. */
export interface Given {
  /** DynamoDB Local's URL. */
  readonly dynamodb: string;
  /** The folder of the synthesized stack. */
  readonly assembly: string;
}

/** Starts DynamoDB Local and synthesizes the stack, where they are not given. */
export const openBench = async (given?: Given): Promise<Bench> => {
  const cleanup = new AsyncDisposableStack();
  const there = given ?? (await startAll(cleanup));
  const { dynamodb, assembly } = there;
  const config = { region: localRegion, credentials: localCredentials };
  // A put that is sent once more after a time-out finds its index rows there already, and takes
  // less than it did.
  const requestHandler = new NodeHttpHandler({ requestTimeout: patienceMs });
  const client = dynamodbClient({ ...config, endpoint: dynamodb, requestHandler, maxAttempts: 1 });
  cleanup.defer(() => client.destroy());
  // Nothing that is stored here is too big for an item, so that no bucket is ever asked.
  const bucket = { client: new S3Client(config), name: 'none' };
  const schemas = new Map<string, TableSchema>();
  const run = Math.random().toString(36).slice(2, 10);
  const newTable = async (output: string): Promise<Table> => {
    const stack = readStack(assembly, `bench-${run}-${schemas.size}`);
    const name = outputOf(stack, output);
    const tables = stack.tables.filter((table) => table.name === name);
    await createTables({ tables }, client);
    for (const table of tables) schemas.set(name, tableSchema(table));
    return { client, name };
  };
  const schemaOf = ({ name }: Pick<Table, 'name'>): TableSchema => {
    const schema = schemas.get(name);
    if (!schema) throw new Error(`the bench has no table ${name}`);
    return schema;
  };
  const newStore = async (output: string): Promise<Store> => ({
    table: await newTable(output),
    bucket,
    names,
    shards: [4],
  });
  return {
    given: there,
    capacity: meterCapacity(client, schemaOf),
    newStore: () => newStore('CallsTable'),
    newFeedbackStore: () => newStore('FeedbackTable'),
    newObjectStore: () => newStore('ObjectsTable'),
    newCostStore: () => newStore('CostsTable'),
    schemaOf,
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
};

const startAll = async (cleanup: AsyncDisposableStack): Promise<Given> => {
  const dynamodb = await startDynamodb();
  cleanup.defer(() => dynamodb.stop());
  const assembly = mkdtempSync(join(tmpdir(), 'pennytrace-bench-'));
  cleanup.defer(() => rmSync(assembly, { recursive: true }));
  await synthesize(assembly);
  return { dynamodb: dynamodb.endpoint, assembly };
};
