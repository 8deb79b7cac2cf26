import type {
  AttributeValue,
  BatchExecuteStatementCommandInput,
  BatchExecuteStatementCommandOutput,
  ConsumedCapacity,
  DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import type { Item } from '../../core/storage/index.ts';
import { putUnits, type TableSchema, tableItself } from './item-size.ts';

/** Capacity units by `table` and the names of the indexes. */
export type Units = Readonly<Record<string, number>>;

/** What some work used of DynamoDB. */
export interface Used {
  readonly reads: Units;
  readonly writes: Units;
  /** Requests to DynamoDB, those that the SDK repeated counted once. */
  readonly requests: number;
}

/** Counts what a client uses. */
export interface CapacityMeter {
  /** What all that the client does while `work` is under way uses. One at a time. */
  readonly during: (work: () => Promise<unknown>) => Promise<Used>;
}

/** All units of some by table and index. */
export const totalUnits = (units: Units): number =>
  Object.values(units).reduce((total, each) => total + each, 0);

/** Each of some units for one of `count` things. */
export const unitsEach = (units: Units, count: number): Units =>
  Object.fromEntries(Object.entries(units).map(([name, each]) => [name, each / count]));

const add = (units: Record<string, number>, more: Units): void => {
  for (const [name, each] of Object.entries(more)) units[name] = (units[name] ?? 0) + each;
};

const unitsOf = ({ Table, GlobalSecondaryIndexes = {} }: ConsumedCapacity): Units => ({
  ...(Table && { [tableItself]: Table.CapacityUnits ?? 0 }),
  ...Object.fromEntries(
    Object.entries(GlobalSecondaryIndexes).map(([name, { CapacityUnits = 0 }]) => [name, CapacityUnits]),
  ),
});

const insertion = /^INSERT INTO "(?<table>[^"]+)" VALUE \{(?<names>.+)\}$/;

/**
 * The units of PartiQL's inserts, of which DynamoDB Local says nothing: what the same items take as
 * puts; where an item is there already, what DynamoDB charges for a condition that does not hold,
 * the table's own units.
 */
const insertUnits = (
  { Statements = [] }: BatchExecuteStatementCommandInput,
  { Responses = [] }: BatchExecuteStatementCommandOutput,
  schemaOf: (table: { readonly name: string }) => TableSchema,
): Units[] =>
  Statements.map(({ Statement = '', Parameters = [] }, i) => {
    const { table = '', names = '' } = insertion.exec(Statement)?.groups ?? {};
    const item: Item = Object.fromEntries(
      [...names.matchAll(/'(\w+)':\?/g)].map(([, name], at) => [name, Parameters[at] as AttributeValue]),
    );
    const units = putUnits(item, schemaOf({ name: table }));
    return Responses[i]?.Error ? { [tableItself]: units[tableItself] ?? 0 } : units;
  });

const readCommands = new Set<string | undefined>([
  'BatchGetItemCommand',
  'GetItemCommand',
  'QueryCommand',
  'ScanCommand',
]);

/** What a command's input and output have in common that matters here. */
interface Answer {
  readonly ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
}

/**
 * Counts what a client uses, by having DynamoDB say it of every index: the product itself asks for
 * totals alone.
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
  const during: CapacityMeter['during'] = async (work) => {
    [reads, writes, requests] = [{}, {}, 0];
    await work();
    // Copies: what the client does afterwards is counted as well.
    return { reads: { ...reads }, writes: { ...writes }, requests };
  };
  return { during };
};
