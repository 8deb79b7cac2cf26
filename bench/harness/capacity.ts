import type { ConsumedCapacity, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type {
  BatchExecuteStatementCommandInput,
  BatchExecuteStatementCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../core/foundations/storage/index.ts';
import { baseTable, putUnits, type TableSchema } from './item-size.ts';

/** Capacity units by `table` and by index name. */
export type Units = Readonly<Record<string, number>>;

/** What a task used of DynamoDB. */
export interface CapacityUsed {
  readonly reads: Units;
  readonly writes: Units;
  /** Requests to DynamoDB. Retries of the SDK are not counted. */
  readonly requests: number;
}

/** Counts what a client uses. */
export interface CapacityMeter {
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
export const meterCapacity = (
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
        if (commandName === 'BatchExecuteStatementCommand') {
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
