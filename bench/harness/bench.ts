/**
 * What every part of the bench runs on: tables of the deployed schema, and a count of the capacity units
 * that they use.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConsumedCapacity, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import type {
  BatchExecuteStatementCommandInput,
  BatchExecuteStatementCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { ownPolicy } from '../../foundations/policy.ts';
import { dynamodbClient, type Item, type Store, type Table } from '../../foundations/storage/index.ts';
import type { NamedTable } from '../../foundations/storage/tables.ts';
import { synthesize } from '../../local/assembly.ts';
import { createTables, localCredentials } from '../../local/stores.ts';
import { localRegion } from '../../local/template/cloudformation.ts';
import { readStack, tableNameOf } from '../../local/template/stack.ts';
import type { Call } from './calls.ts';
import type { Figure } from './figures.ts';
import { baseTable, putUnits, type TableSchema, tableSchema } from './item-size.ts';

/** The wire policy of the service in the bench. */
export const policy = ownPolicy;

/** The longest answer of the store on a busy machine, in ms. */
const requestTimeoutMs = 120_000;

/** Tables with the deployed schema on a local store, until disposal. */
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
interface BenchEnvironment {
  /** The URL of the store. */
  readonly dynamodb: string;
  /** The folder of the synthesized stack. */
  readonly assembly: string;
  /** The folder of all handlers' bundles. @default - they are made where they are needed */
  readonly bundles?: string;
}

/**
 * Opens a bench.
 *
 * @param existing what to run on. @default - the embedded store is started and the stack synthesized
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
    policy,
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
  const store = fork(new URL('store-process.ts', import.meta.url));
  cleanup.defer(() => store.disconnect());
  const [dynamodb]: string[] = await once(store, 'message');
  if (dynamodb === undefined) throw new Error('the store did not start');
  const assembly = mkdtempSync(join(tmpdir(), 'pennytrace-bench-'));
  cleanup.defer(() => rmSync(assembly, { recursive: true }));
  await synthesize(assembly);
  return { dynamodb, assembly };
};

/** What every part of the bench gets. */
export interface BenchContext {
  /** The calls to measure with, from the generator or a file. */
  readonly calls: readonly Call[];
  /** The numbers of calls over which growth is measured, ascending, at least one. */
  readonly sizes: readonly number[];
  /**
   * A store with tables of the deployed schema. It is started at the first call and shared by all
   * parts.
   */
  readonly bench: () => Promise<Bench>;
  /** Prints a step to standard error. */
  readonly progress: (text: string) => void;
}

/** A part of the bench. `npm run bench` runs all of them, `npm run bench -- --only <name>` some. */
export interface BenchPart {
  /** Its name on the command line. */
  readonly name: string;
  /** A line above its table that says what it measures. */
  readonly title: string;
  /**
   * Measures.
   *
   * @throws Error if the measured code fails
   */
  readonly run: (context: BenchContext) => Promise<readonly Figure[]>;
}

/** Capacity units by `table` and by index name. */
export type Units = Readonly<Record<string, number>>;

/** What a task used of DynamoDB. */
export interface CapacityUsed {
  readonly reads: Units;
  readonly writes: Units;
  /** Requests to DynamoDB. Retries of the SDK are not counted. */
  readonly requests: number;
}

interface CapacityMeter {
  /** Everything that the client uses during a task. Only one task at a time. */
  readonly during: (task: () => Promise<unknown>) => Promise<CapacityUsed>;
}

/** The sum over table and indexes. */
export const totalUnits = (units: Units): number =>
  Object.values(units).reduce((total, each) => total + each, 0);

/** Units divided by a count. */
export const unitsEach = (units: Units, count: number): Units =>
  Object.fromEntries(Object.entries(units).map(([name, each]) => [name, each / count]));

const add = (units: Record<string, number>, more: Units): void => {
  for (const [name, each] of Object.entries(more)) units[name] = (units[name] ?? 0) + each;
};

const unitsOf = ({ Table, GlobalSecondaryIndexes = {} }: ConsumedCapacity): Units => ({
  ...(Table && { [baseTable]: Table.CapacityUnits ?? 0 }),
  ...Object.fromEntries(
    Object.entries(GlobalSecondaryIndexes).map(([name, { CapacityUnits = 0 }]) => [name, CapacityUnits]),
  ),
});

const insertion = /^INSERT INTO "(?<table>[^"]+)" VALUE \{(?<names>.+)\}$/;

/**
 * The units of PartiQL inserts, which DynamoDB Local does not report: those of the same items as
 * puts. An insert of an existing item is charged the table's own units, as a failed condition is.
 */
const insertUnits = (
  { Statements = [] }: BatchExecuteStatementCommandInput,
  { Responses = [] }: BatchExecuteStatementCommandOutput,
  schemaOf: (table: { readonly name: string }) => TableSchema,
): Units[] =>
  Statements.map(({ Statement = '', Parameters = [] }, i) => {
    const { table = '', names = '' } = insertion.exec(Statement)?.groups ?? {};
    const item: Item = Object.fromEntries(
      [...names.matchAll(/'(\w+)':\?/g)].map(([, name], at) => [name, Parameters[at]]),
    );
    const units = putUnits(item, schemaOf({ name: table }));
    return Responses[i]?.Error ? { [baseTable]: units[baseTable] ?? 0 } : units;
  });

const readCommands = new Set<string | undefined>([
  'BatchGetItemCommand',
  'GetItemCommand',
  'QueryCommand',
  'ScanCommand',
]);

/** The field of a command's output that is read here. */
interface Answer {
  readonly ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
}

/**
 * Counts the units of a client's commands by index. It makes DynamoDB report them; the service
 * itself requests totals only.
 *
 * @param schemaOf the keys and indexes of a table, by its name
 */
const meterCapacity = (
  client: DynamoDBClient,
  schemaOf: (table: { readonly name: string }) => TableSchema,
): CapacityMeter => {
  let reads: Record<string, number> = {};
  let writes: Record<string, number> = {};
  let requests = 0;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (!('ReturnConsumedCapacity' in args.input)) return next(args);
        requests++;
        const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'INDEXES' } });
        const { ConsumedCapacity = [] } = result.output as Answer;
        const units = readCommands.has(commandName) ? reads : writes;
        for (const capacity of [ConsumedCapacity].flat()) add(units, unitsOf(capacity));
        if (commandName === 'BatchExecuteStatementCommand' && [ConsumedCapacity].flat().length === 0) {
          const output = result.output as BatchExecuteStatementCommandOutput;
          const input = args.input as BatchExecuteStatementCommandInput;
          for (const each of insertUnits(input, output, schemaOf)) add(writes, each);
        }
        return result;
      },
    { step: 'initialize' },
  );
  const during: CapacityMeter['during'] = async (task) => {
    [reads, writes, requests] = [{}, {}, 0];
    await task();
    // Copies, because the client's later commands are counted as well.
    return { reads: { ...reads }, writes: { ...writes }, requests };
  };
  return { during };
};
