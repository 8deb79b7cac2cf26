import {
  type AttributeValue,
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  type BatchStatementError,
  type BatchStatementRequest,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import pMap from 'p-map';
import { type Effort, persist } from './effort.ts';

/** An item as DynamoDB's API carries it. */
export type Item = Record<string, AttributeValue>;

/** One DynamoDB table and the client to reach it with. */
export interface Table {
  readonly client: DynamoDBClient;
  readonly name: string;
}

/** DynamoDB's own limits of one request. */
const maxBatchWrite = 25;
const maxBatchGet = 100;
/** How many batches of one request are under way at once. */
const concurrency = 8;

const chunked = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

const count = (
  effort: Effort,
  kind: 'readUnits' | 'writeUnits',
  capacity: ConsumedCapacity | undefined,
): void => {
  effort.meter[kind] += capacity?.CapacityUnits ?? 0;
};

/**
 * Puts all the items, replacing those of the same keys, 25 a request. No two may have the same key.
 *
 * @throws ServiceError 503 when some could not be stored in time; others may have been
 */
export const putItems = async (table: Table, items: readonly Item[], effort: Effort): Promise<void> => {
  await pMap(
    chunked(items, maxBatchWrite),
    async (batch) => {
      let left = batch.map((Item) => ({ PutRequest: { Item } }));
      await persist(effort, async () => {
        const answer = await table.client.send(
          new BatchWriteItemCommand({
            RequestItems: { [table.name]: left },
            ReturnConsumedCapacity: 'TOTAL',
          }),
        );
        count(effort, 'writeUnits', answer.ConsumedCapacity?.[0]);
        left = (answer.UnprocessedItems?.[table.name] ?? []) as typeof left;
        return left.length === 0;
      });
    },
    { concurrency },
  );
};

/**
 * Inserts the items whose keys are not there yet, 25 a request: BatchWriteItem knows no conditions, PartiQL's
 * INSERT has this one built in. No two may have the same key.
 *
 * @returns those items whose keys were there already; they were not written
 * @throws ServiceError 503 when some could not be stored in time; others may have been
 */
export const insertItems = async (table: Table, items: readonly Item[], effort: Effort): Promise<Item[]> => {
  const batches = await pMap(
    chunked(items, maxBatchWrite),
    async (batch) => {
      const present: Item[] = [];
      let left = batch;
      await persist(effort, async () => {
        const answer = await table.client.send(
          new BatchExecuteStatementCommand({
            Statements: left.map((item) => insertStatement(table, item)),
            ReturnConsumedCapacity: 'TOTAL',
          }),
        );
        for (const capacity of answer.ConsumedCapacity ?? []) count(effort, 'writeUnits', capacity);
        const sent = left;
        left = sent.filter((item, i) => {
          const code = answer.Responses?.[i]?.Error?.Code;
          if (code === 'DuplicateItem') present.push(item);
          return code !== undefined && code !== 'DuplicateItem';
        });
        refuseFatal(answer.Responses?.map((response) => response.Error));
        return left.length === 0;
      });
      return present;
    },
    { concurrency },
  );
  return batches.flat();
};

const insertStatement = (table: Table, item: Item): BatchStatementRequest => ({
  Statement: `INSERT INTO "${table.name}" VALUE {${Object.keys(item).map((name) => `'${name}':?`)}}`,
  Parameters: Object.values(item),
});

/** The statement errors that pass by themselves, or (DuplicateItem) mean something to the caller. */
const passing = new Set<string | undefined>([
  'DuplicateItem',
  'InternalServerError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'ThrottlingError',
  'TransactionConflict',
]);

const refuseFatal = (errors: (BatchStatementError | undefined)[] | undefined): void => {
  const fatal = errors?.find((error) => error && !passing.has(error.Code));
  if (fatal) throw new Error(`the table refused an item: ${fatal.Code}: ${fatal.Message}`);
};

/**
 * Gets the items of the keys, 100 a request, in no particular order; keys of nothing give nothing.
 *
 * @throws ServiceError 503 when storage does not give them in time
 */
export const getItems = async (
  table: Table,
  keys: readonly Item[],
  effort: Effort,
  options: { consistent: boolean },
): Promise<Item[]> => {
  const batches = await pMap(
    chunked(keys, maxBatchGet),
    async (batch) => {
      const found: Item[] = [];
      let left = batch;
      await persist(effort, async () => {
        const answer = await table.client.send(
          new BatchGetItemCommand({
            RequestItems: { [table.name]: { Keys: left, ConsistentRead: options.consistent } },
            ReturnConsumedCapacity: 'TOTAL',
          }),
        );
        count(effort, 'readUnits', answer.ConsumedCapacity?.[0]);
        found.push(...(answer.Responses?.[table.name] ?? []));
        left = answer.UnprocessedKeys?.[table.name]?.Keys ?? [];
        return left.length === 0;
      });
      return found;
    },
    { concurrency },
  );
  return batches.flat();
};

/** One key range of the table or of one of its indexes, read in the order of its sort key. */
export interface KeyRange {
  /** The index; absent for the table itself. */
  readonly index?: string;
  /** The partition key's attribute and value. */
  readonly partition: readonly [name: string, value: Uint8Array];
  /** The sort key's attribute and its inclusive bounds; absent for the whole partition. */
  readonly sort?: readonly [name: string, from: Uint8Array, to: Uint8Array];
}

/** One page of a query: its items and where the next one starts, if there is one. */
export interface Page {
  readonly items: Item[];
  readonly next: Item | undefined;
}

/** How a page is to be read. */
export interface PageOptions {
  readonly descending?: boolean;
  /** Strongly consistent; not on indexes. */
  readonly consistent?: boolean;
  /** The most items to read; DynamoDB ends a page at 1 MB anyway. */
  readonly limit?: number | undefined;
  readonly start?: Item | undefined;
}

/**
 * Reads one page of a key range.
 *
 * @throws ServiceError 503 when storage does not give it in time
 */
export const queryPage = async (
  table: Table,
  range: KeyRange,
  effort: Effort,
  options: PageOptions = {},
): Promise<Page> => {
  const [pk, pkValue] = range.partition;
  const command = new QueryCommand({
    TableName: table.name,
    IndexName: range.index,
    KeyConditionExpression: range.sort ? '#p = :p AND #s BETWEEN :from AND :to' : '#p = :p',
    ExpressionAttributeNames: range.sort ? { '#p': pk, '#s': range.sort[0] } : { '#p': pk },
    ExpressionAttributeValues: range.sort
      ? { ':p': { B: pkValue }, ':from': { B: range.sort[1] }, ':to': { B: range.sort[2] } }
      : { ':p': { B: pkValue } },
    ScanIndexForward: !options.descending,
    ConsistentRead: options.consistent ?? false,
    Limit: options.limit,
    ExclusiveStartKey: options.start,
    ReturnConsumedCapacity: 'TOTAL',
  });
  let page: Page = { items: [], next: undefined };
  await persist(effort, async () => {
    const answer = await table.client.send(command, effort.signal && { abortSignal: effort.signal });
    count(effort, 'readUnits', answer.ConsumedCapacity);
    page = { items: answer.Items ?? [], next: answer.LastEvaluatedKey };
    return true;
  });
  return page;
};

/**
 * Puts one item in the place of one that is still as it was read, told by one of its attributes; without
 * `expected`, only where there is no item of its key.
 *
 * @returns whether it was put
 * @throws ServiceError 503 when storage does not take it in time
 */
export const replaceItem = async (
  table: Table,
  item: Item,
  expected: readonly [name: string, value: AttributeValue] | undefined,
  effort: Effort,
): Promise<boolean> => {
  const condition = expected
    ? {
        ConditionExpression: '#n = :v',
        ExpressionAttributeNames: { '#n': expected[0] },
        ExpressionAttributeValues: { ':v': expected[1] },
      }
    : {
        ConditionExpression: 'attribute_not_exists(#n)',
        ExpressionAttributeNames: { '#n': Object.keys(item)[0] ?? '' },
      };
  let held = true;
  await persist(effort, async () => {
    try {
      const command = new PutItemCommand({
        TableName: table.name,
        Item: item,
        ReturnConsumedCapacity: 'TOTAL',
        ...condition,
      });
      const answer = await table.client.send(command);
      count(effort, 'writeUnits', answer.ConsumedCapacity);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      held = false;
    }
    return true;
  });
  return held;
};
