import { randomUUID } from 'node:crypto';
import {
  type BatchStatementError,
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchExecuteStatementCommand,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DeleteCommand,
  PutCommand,
  paginateScan,
  type ScanCommandInput,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Item, Value } from './items.ts';
import { type RequestBudget, type RequestOptions, sendBatches, withRetries } from './requests.ts';
import { documents, meter, type Table } from './store.ts';
import type { ExpiryOf, TableKey } from './tables.ts';

/** How a table is to be scanned, as a request for it says; filters compare plain values. */
export type ScanOptions = Omit<ScanCommandInput, 'TableName' | 'ExclusiveStartKey'>;

/**
 * Reads a whole table, a page of its items at a time and in no order that means anything. It costs
 * as much as the table is large, so it is for operators, tests and measurements.
 *
 * @throws the SDK's error when the table does not answer
 */
export async function* scanTable(table: Table, options: ScanOptions = {}): AsyncGenerator<Item[]> {
  const pages = paginateScan({ client: documents(table) }, { ...options, TableName: table.name });
  for await (const { Items = [] } of pages) yield Items;
}

/** DynamoDB's limit of writes, and of statements, per request. */
const maxBatchWrite = 25;

/** One write of a batch: the item to put, or the key of the item to delete. */
type Write = NonNullable<BatchWriteCommandInput['RequestItems']>[string][number];

/** Sends writes, 25 a request, until none is left over. */
const writeAll = (table: Table, writes: readonly Write[], budget: RequestBudget): Promise<void> =>
  sendBatches(writes, maxBatchWrite, budget, async (some, request) => {
    const command = new BatchWriteCommand({
      RequestItems: { [table.name]: some },
      ReturnConsumedCapacity: 'TOTAL',
    });
    const answer = await documents(table).send(command, request);
    meter(budget, 'writeUnits', answer.ConsumedCapacity?.[0]);
    return answer.UnprocessedItems?.[table.name] ?? [];
  });

/**
 * Puts items, 25 a request. They replace those of the same keys.
 *
 * @param items each key once
 * @throws ServiceError 503 when some could not be stored in time; others may have been
 */
export const putItems = (table: Table, items: readonly Item[], budget: RequestBudget): Promise<void> =>
  writeAll(
    table,
    items.map((Item) => ({ PutRequest: { Item } })),
    budget,
  );

/**
 * Deletes the items of keys, 25 a request. Keys without an item are ignored.
 *
 * @param keys each once
 * @throws ServiceError 503 when some could not be deleted in time; others may have been
 */
export const deleteItems = (table: Table, keys: readonly Item[], budget: RequestBudget): Promise<void> =>
  writeAll(
    table,
    keys.map((Key) => ({ DeleteRequest: { Key } })),
    budget,
  );

/**
 * Inserts the items whose keys are free, 25 a request. BatchWriteItem knows no conditions, while
 * PartiQL's INSERT has this one built in.
 *
 * @param items each key once
 * @returns the items whose keys were taken; they were not written
 * @throws ServiceError 503 when some could not be stored in time; others may have been
 */
export const insertItems = async (
  table: Table,
  items: readonly Item[],
  budget: RequestBudget,
): Promise<Item[]> => {
  const present: Item[] = [];
  await sendBatches(items, maxBatchWrite, budget, async (some, request) => {
    const command = new BatchExecuteStatementCommand({
      Statements: some.map((item) => insertStatement(table, item)),
      ReturnConsumedCapacity: 'TOTAL',
    });
    const { ConsumedCapacity = [], Responses = [] } = await documents(table).send(command, request);
    for (const capacity of ConsumedCapacity) meter(budget, 'writeUnits', capacity);
    refuseFatal(Responses.map((response) => response.Error));
    const codes = some.map((_, i) => Responses[i]?.Error?.Code);
    present.push(...some.filter((_, i) => codes[i] === 'DuplicateItem'));
    return some.filter((_, i) => codes[i] !== undefined && codes[i] !== 'DuplicateItem');
  });
  return present;
};

const insertStatement = (table: Table, item: Item) => ({
  Statement: `INSERT INTO "${table.name}" VALUE {${Object.keys(item).map((name) => `'${name}':?`)}}`,
  Parameters: Object.values(item),
});

/** The errors of a statement that pass by themselves, and the one for a taken key. */
const passingErrors = new Set<string | undefined>([
  'DuplicateItem',
  'InternalServerError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'ThrottlingError',
  'TransactionConflict',
]);

const refuseFatal = (errors: readonly (BatchStatementError | undefined)[]): void => {
  const fatal = errors.find((error) => error && !passingErrors.has(error.Code));
  if (fatal) throw new Error(`the table refused an item: ${fatal.Code}: ${fatal.Message}`);
};

/**
 * The expected state of an item for a conditional write: attributes and their values, undefined for
 * one that must be absent.
 */
export type Condition = Readonly<Record<string, Value | undefined>>;

/** A condition as the fields of a request. */
const conditionOf = (expected: Condition) => {
  const attributes = Object.entries(expected).map(([name, value], i) => ({
    name,
    value,
    at: `#n${i}`,
    as: `:v${i}`,
  }));
  const values = attributes.flatMap(({ as, value }) => (value === undefined ? [] : [[as, value] as const]));
  return {
    ConditionExpression: attributes
      .map(({ at, as, value }) => (value === undefined ? `attribute_not_exists(${at})` : `${at} = ${as}`))
      .join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(attributes.map(({ at, name }) => [at, name])),
    ...(values.length > 0 && { ExpressionAttributeValues: Object.fromEntries(values) }),
  };
};

/** The answer of a write, as far as it is read here. */
interface WriteAnswer {
  readonly ConsumedCapacity?: ConsumedCapacity | undefined;
}

/** Sends a conditional write. Returns whether its condition held. */
const sendIf = async (
  budget: RequestBudget,
  send: (options: RequestOptions) => Promise<WriteAnswer>,
): Promise<boolean> => {
  let held = true;
  await withRetries(budget, async (options) => {
    try {
      meter(budget, 'writeUnits', (await send(options)).ConsumedCapacity);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      held = false;
    }
    return true;
  });
  return held;
};

/**
 * Puts an item if the stored one is as expected.
 *
 * @returns false if it is not; also if the put held and its first answer was lost, so read again
 * @throws ServiceError 503 when storage does not answer in time
 */
export const replaceItem = (
  table: Table,
  item: Item,
  expected: Condition,
  budget: RequestBudget,
): Promise<boolean> => {
  const input = { TableName: table.name, Item: item, ReturnConsumedCapacity: 'TOTAL' } as const;
  const command = new PutCommand({ ...input, ...conditionOf(expected) });
  return sendIf(budget, (options) => documents(table).send(command, options));
};

/**
 * Deletes an item if it is as expected.
 *
 * @returns false if it is not or is gone; also if the deletion held and its first answer was lost,
 * so read again
 * @throws ServiceError 503 when storage does not answer in time
 */
export const deleteItem = (
  table: Table,
  key: Item,
  expected: Condition,
  budget: RequestBudget,
): Promise<boolean> => {
  const input = { TableName: table.name, Key: key, ReturnConsumedCapacity: 'TOTAL' } as const;
  const command = new DeleteCommand({ ...input, ...conditionOf(expected) });
  return sendIf(budget, (options) => documents(table).send(command, options));
};

/** Writes that hold together or not at all: at most 100 items, each once. */
export interface Transaction {
  readonly puts: readonly { readonly item: Item; readonly expected?: Condition }[];
  /** Keys of items to delete. Those without an item are ignored. */
  readonly deletes?: readonly Item[];
  /** Items that must be as expected, and stay. */
  readonly checks?: readonly { readonly key: Item; readonly expected: Condition }[];
  /** Numbers of further items that grow. An item is made if there is none. */
  readonly adds?: readonly Addition[];
}

/** Something that is added to a number of an item. */
export interface Addition {
  readonly key: Item;
  readonly attribute: string;
  /** A whole number, which may be below 0. */
  readonly by: number;
  /** The most that the number may be before. A missing number is always few enough. @default - any */
  readonly atMost?: number | undefined;
  /** The attribute that makes the item expire, in seconds since 1970. */
  readonly expiry: { readonly x: number };
}

const additionOf = (TableName: string, { key, attribute, by, atMost, expiry }: Addition) => ({
  Update: {
    TableName,
    Key: key,
    UpdateExpression: 'SET x = :x ADD #a :by',
    ...(atMost !== undefined && { ConditionExpression: 'attribute_not_exists(#a) OR #a <= :most' }),
    ExpressionAttributeNames: { '#a': attribute },
    ExpressionAttributeValues: {
      ':x': expiry.x,
      ':by': by,
      ...(atMost !== undefined && { ':most': atMost }),
    },
  },
});

/** The reasons of a cancelled transaction that pass by themselves. */
const passingReasons = new Set<string | undefined>([
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
  'TransactionConflict',
]);

/**
 * Sends a transaction, and again if it meets another one at the same item. It carries a token that
 * DynamoDB remembers for ten minutes, so one whose first answer was lost does not count twice.
 *
 * @returns false if an item is not as expected; nothing was written then
 * @throws ServiceError 503 when storage does not answer in time
 */
export const transact = async (
  table: Table,
  { puts, deletes = [], checks = [], adds = [] }: Transaction,
  budget: RequestBudget,
): Promise<boolean> => {
  const TableName = table.name;
  const command = new TransactWriteCommand({
    ClientRequestToken: randomUUID(),
    TransactItems: [
      ...puts.map(({ item, expected }) => ({
        Put: { TableName, Item: item, ...(expected && conditionOf(expected)) },
      })),
      ...deletes.map((Key) => ({ Delete: { TableName, Key } })),
      ...checks.map(({ key, expected }) => ({
        ConditionCheck: { TableName, Key: key, ...conditionOf(expected) },
      })),
      ...adds.map((addition) => additionOf(TableName, addition)),
    ],
    ReturnConsumedCapacity: 'TOTAL',
  });
  let done = true;
  await withRetries(budget, async (request) => {
    try {
      const answer = await documents(table).send(command, request);
      meter(budget, 'writeUnits', answer.ConsumedCapacity?.[0]);
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code);
      done = !codes.includes('ConditionalCheckFailed');
      if (done && codes.some((code) => passingReasons.has(code))) return false;
      if (done) throw error;
    }
    return true;
  });
  return done;
};

/** A number of an item of the rollups table that is to be at least so large. */
export interface Raise {
  readonly key: TableKey<'rollups'>;
  readonly attribute: string;
  readonly value: number;
  /** The attribute that makes the item expire, if it does. */
  readonly expiry?: ExpiryOf<'rollups'> | undefined;
  /** Whether a number that is there stays, however small. @default false */
  readonly onlyIfAbsent?: boolean;
}

/**
 * Raises a number of an item, which is made if there is none. A larger number stays, so it makes no
 * difference in which order requests arrive, or how often.
 *
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const raiseNumber = async (
  table: Table,
  { key, attribute, value, expiry, onlyIfAbsent = false }: Raise,
  budget: RequestBudget,
): Promise<void> => {
  const command = new UpdateCommand({
    TableName: table.name,
    Key: key,
    UpdateExpression: `SET #a = :value${expiry ? ', x = :x' : ''}`,
    ConditionExpression: `attribute_not_exists(#a)${onlyIfAbsent ? '' : ' OR #a < :value'}`,
    ExpressionAttributeNames: { '#a': attribute },
    ExpressionAttributeValues: { ':value': value, ...(expiry && { ':x': expiry.x }) },
    ReturnConsumedCapacity: 'TOTAL',
  });
  await sendIf(budget, (options) => documents(table).send(command, options));
};

/** A number of an item of the rates table that counts up to a limit. */
export interface Count {
  readonly key: TableKey<'rates'>;
  readonly attribute: string;
  readonly limit: number;
  readonly expiry: ExpiryOf<'rates'>;
}

/**
 * Counts one more in an item, which is made if there is none. A request whose answer was lost may
 * count twice.
 *
 * @returns false if the limit is reached; it is not counted then
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const countUpTo = (
  table: Table,
  { key, attribute, limit, expiry }: Count,
  budget: RequestBudget,
): Promise<boolean> => {
  const command = new UpdateCommand({
    TableName: table.name,
    Key: key,
    UpdateExpression: 'SET x = :x ADD #a :one',
    ConditionExpression: 'attribute_not_exists(#a) OR #a < :limit',
    ExpressionAttributeNames: { '#a': attribute },
    ExpressionAttributeValues: { ':x': expiry.x, ':one': 1, ':limit': limit },
    ReturnConsumedCapacity: 'TOTAL',
  });
  return sendIf(budget, (options) => documents(table).send(command, options));
};
