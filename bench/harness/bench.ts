/**
 * What every part of the bench runs on: tables of the deployed schema, and a count of the capacity units
 * that they use.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { createTables, localCredentials } from 'cdk-local-runner';
import { localRegion, readStack } from 'cdk-local-runner/template';
import {
  dynamodbClient,
  itemFromWire,
  type Store,
  type Table,
  type WireItem,
} from '../../foundations/storage/index.ts';
import type { NamedTable } from '../../foundations/storage/tables.ts';
import { synthesize } from '../../local/assembly.ts';
import { getTableName } from '../../local/stack.ts';
import type { Call } from './calls.ts';
import type { Figure } from './figures.ts';
import { baseTable, putUnits, type TableSchema, tableSchema } from './item-size.ts';

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
  readonly getSchema: (table: Table) => TableSchema;
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
  const schemas = new Map<string, TableSchema>();
  const getSchema = ({ name }: Pick<Table, 'name'>): TableSchema => {
    const schema = schemas.get(name);
    if (!schema) throw new Error(`the bench has no table ${name}`);
    return schema;
  };
  const { requestHandler, capacity } = meteredConnections(getSchema);
  // The SDK must not repeat requests: a repeated put finds its index rows and takes fewer units.
  const client = dynamodbClient({ ...config, endpoint: dynamodb, requestHandler, maxAttempts: 1 });
  cleanup.defer(() => client.destroy());
  // Nothing stored here is too big for an item, so the bucket is never used.
  const bucket = { client: new S3Client(config), name: 'none' };
  const run = Math.random().toString(36).slice(2, 10);
  const newTable = async (table: NamedTable): Promise<Table> => {
    const stack = readStack(assembly, `bench-${run}-${schemas.size}`);
    const name = getTableName(stack, table);
    const specs = stack.tables.filter((spec) => spec.name === name);
    await createTables({ tables: specs }, client);
    for (const spec of specs) schemas.set(name, tableSchema(spec));
    return { client, name };
  };
  const newStore = async (table: NamedTable): Promise<Store> => ({
    table: await newTable(table),
    bucket,
    shards: [4],
  });
  return {
    environment,
    capacity,
    newStore,
    getSchema,
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

/** The sum over table and indexes. */
export const totalUnits = (units: Units): number =>
  Object.values(units).reduce((total, count) => total + count, 0);

/** Units divided by a count. */
export const unitsEach = (units: Units, count: number): Units =>
  Object.fromEntries(Object.entries(units).map(([name, total]) => [name, total / count]));

const add = (units: Record<string, number>, more: Units): void => {
  for (const [name, added] of Object.entries(more)) units[name] = (units[name] ?? 0) + added;
};

const toUnits = ({ Table, GlobalSecondaryIndexes = {} }: ConsumedCapacity): Units => ({
  ...(Table && { [baseTable]: Table.CapacityUnits ?? 0 }),
  ...Object.fromEntries(
    Object.entries(GlobalSecondaryIndexes).map(([name, { CapacityUnits = 0 }]) => [name, CapacityUnits]),
  ),
});

const insertion = /^INSERT INTO "(?<table>[^"]+)" VALUE \{(?<names>.+)\}$/;

/** A request, as far as it is read here. */
interface Input {
  readonly Statements?: readonly {
    readonly Statement: string;
    readonly Parameters: readonly WireItem[string][];
  }[];
}

/** An answer, as far as it is read here. */
interface Answer {
  readonly ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
  readonly Responses?: readonly { readonly Error?: object }[];
}

/**
 * The units of PartiQL inserts, which DynamoDB Local does not report: those of the same items as
 * puts. An insert of an existing item is charged the table's own units, as a failed condition is.
 */
const insertUnits = (
  { Statements = [] }: Input,
  { Responses = [] }: Answer,
  getSchema: (table: { readonly name: string }) => TableSchema,
): Units[] =>
  Statements.map(({ Statement, Parameters }, i) => {
    const { table = '', names = '' } = insertion.exec(Statement)?.groups ?? {};
    const item: WireItem = Object.fromEntries(
      [...names.matchAll(/'(\w+)':\?/g)].map(([, name], at) => [name, Parameters[at] ?? {}]),
    );
    const units = putUnits(itemFromWire(item), getSchema({ name: table }));
    return Responses[i]?.Error ? { [baseTable]: units[baseTable] ?? 0 } : units;
  });

const readOperations = new Set<string | undefined>(['BatchGetItem', 'GetItem', 'Query', 'Scan']);

interface CapacityMeter {
  /** Everything that the client uses during a task. Only one task at a time. */
  readonly during: (task: () => Promise<unknown>) => Promise<CapacityUsed>;
}

/**
 * Connections that count the units of a client's requests by index. DynamoDB is made to report them;
 * the service itself requests totals only.
 *
 * @param getSchema the keys and indexes of a table, by its name
 */
const meteredConnections = (
  getSchema: (table: { readonly name: string }) => TableSchema,
): { readonly requestHandler: NodeHttpHandler; readonly capacity: CapacityMeter } => {
  let reads: Record<string, number> = {};
  let writes: Record<string, number> = {};
  let requests = 0;
  const count = (operation: string | undefined, input: Input, answer: Answer): void => {
    requests++;
    const consumed = [answer.ConsumedCapacity ?? []].flat();
    const units = readOperations.has(operation) ? reads : writes;
    for (const capacity of consumed) add(units, toUnits(capacity));
    if (operation !== 'BatchExecuteStatement' || consumed.length > 0) return;
    for (const inserted of insertUnits(input, answer, getSchema)) add(writes, inserted);
  };
  const connections = new NodeHttpHandler({ requestTimeout: requestTimeoutMs });
  const handle: NodeHttpHandler['handle'] = async (request, options) => {
    const asked = typeof request.body === 'string' ? request.body : Buffer.concat([request.body]).toString();
    const body = asked.replace('"ReturnConsumedCapacity":"TOTAL"', '"ReturnConsumedCapacity":"INDEXES"');
    if (body === asked) return connections.handle(request, options);
    request.headers['content-length'] = String(Buffer.byteLength(body));
    request.body = body;
    const { response } = await connections.handle(request, options);
    const bytes = await buffer(response.body);
    if (response.statusCode === 200)
      count(
        request.headers['x-amz-target']?.split('.').at(-1),
        JSON.parse(asked),
        JSON.parse(bytes.toString()),
      );
    response.body = Readable.from([bytes]);
    return { response };
  };
  const during: CapacityMeter['during'] = async (task) => {
    [reads, writes, requests] = [{}, {}, 0];
    await task();
    // Copies, because the client's later requests are counted as well.
    return { reads: { ...reads }, writes: { ...writes }, requests };
  };
  return {
    requestHandler: Object.assign(Object.create(connections), { handle }),
    capacity: { during },
  };
};
