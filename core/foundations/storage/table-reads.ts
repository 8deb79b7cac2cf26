import {
  BatchGetCommand,
  paginateScan,
  QueryCommand,
  type QueryCommandInput,
  type ScanCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { batchConcurrency, chunked, mapConcurrent } from './concurrency.ts';
import { type Item, rawItems } from './items.ts';
import { type RequestBudget, withRetries } from './retries.ts';
import { documents, meter, type Table } from './store.ts';

/** DynamoDB's limit of keys per request. */
const maxBatchGet = 100;

/**
 * Reads the items of keys, 100 a request, in no particular order. Keys without an item are left
 * out.
 *
 * @param keys each once
 * @throws ServiceError 503 when storage does not answer in time
 */
export const getItems = async (
  table: Table,
  keys: readonly Item[],
  budget: RequestBudget,
  options: {
    readonly consistent: boolean;
    /** The attributes to read. It makes answers smaller, not cheaper. @default - all */
    readonly attributes?: readonly string[];
  },
): Promise<Item[]> => {
  const { consistent, attributes } = options;
  const projection = attributes && {
    ProjectionExpression: attributes.map((_, i) => `#a${i}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(attributes.map((name, i) => [`#a${i}`, name])),
  };
  const batches = await mapConcurrent(chunked(keys, maxBatchGet), batchConcurrency, async (batch) => {
    const found: Item[] = [];
    let left = batch;
    await withRetries(budget, async (request) => {
      const answer = await documents(table).send(
        new BatchGetCommand({
          RequestItems: { [table.name]: { Keys: left, ConsistentRead: consistent, ...projection } },
          ReturnConsumedCapacity: 'TOTAL',
        }),
        request,
      );
      meter(budget, 'readUnits', answer.ConsumedCapacity?.[0]);
      found.push(...(answer.Responses?.[table.name] ?? []));
      left = answer.UnprocessedKeys?.[table.name]?.Keys ?? [];
      return left.length === 0;
    });
    return found;
  });
  return batches.flat();
};

/** A key range of a table or an index, in the order of its sort key. */
export interface KeyRange {
  /** The index; absent for the table itself. */
  readonly index?: string;
  /** The partition key's attribute and value. */
  readonly partition: readonly [name: string, value: Uint8Array];
  /** The sort key's attribute and its inclusive bounds; absent for the whole partition. */
  readonly sort?: readonly [name: string, from: Uint8Array, to: Uint8Array];
}

/** One page of a query. */
export interface Page {
  readonly items: Item[];
  /** Where the next page starts; undefined on the last one. */
  readonly next: Item | undefined;
}

/** How to read a page. */
export interface PageOptions {
  readonly descending?: boolean;
  /** Strongly consistent; not on indexes. */
  readonly consistent?: boolean;
  /** The attributes to read. It makes answers smaller, not cheaper. @default - all */
  readonly attributes?: readonly string[];
  /** The most items to read. DynamoDB ends a page at 1 MB in any case. */
  readonly limit?: number | undefined;
  readonly start?: Item | undefined;
}

/**
 * Reads one page of a key range.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const queryPage = async (
  table: Table,
  range: KeyRange,
  budget: RequestBudget,
  options: PageOptions = {},
): Promise<Page> => {
  const [pk, pkValue] = range.partition;
  const names =
    options.attributes && Object.fromEntries(options.attributes.map((name, i) => [`#a${i}`, name]));
  const input: QueryCommandInput = {
    TableName: table.name,
    IndexName: range.index,
    KeyConditionExpression: range.sort ? '#p = :p AND #s BETWEEN :from AND :to' : '#p = :p',
    ExpressionAttributeNames: { '#p': pk, ...(range.sort && { '#s': range.sort[0] }), ...names },
    ProjectionExpression: names && Object.keys(names).join(', '),
    ExpressionAttributeValues: range.sort
      ? { ':p': pkValue, ':from': range.sort[1], ':to': range.sort[2] }
      : { ':p': pkValue },
    ScanIndexForward: !options.descending,
    ConsistentRead: options.consistent ?? false,
    Limit: options.limit,
    ExclusiveStartKey: options.start,
    ReturnConsumedCapacity: 'TOTAL',
  };
  let page: Page = { items: [], next: undefined };
  await withRetries(budget, async (request) => {
    const command = new QueryCommand(input);
    const items = rawItems(command);
    const answer = await documents(table).send(command, request);
    meter(budget, 'readUnits', answer.ConsumedCapacity);
    page = { items: items(), next: answer.LastEvaluatedKey };
    return true;
  });
  return page;
};

/** How one key range is read. */
export interface RangeOptions<T> {
  /** Reads a row from its item. */
  readonly toRow: (item: Item) => T;
  /** Strongly consistent; not on indexes. @default false */
  readonly consistent?: boolean;
}

/**
 * Reads one key range in its own order, in pages as long as DynamoDB makes them: 1 MB.
 *
 * @returns the rows in batches, none of them empty
 * @throws ServiceError 503 when storage does not give a page in time; whatever `toRow` throws
 */
export async function* readRange<T>(
  table: Table,
  range: KeyRange,
  { toRow, consistent = false }: RangeOptions<T>,
  budget: RequestBudget,
): AsyncGenerator<readonly T[]> {
  let start: Item | undefined;
  do {
    const { items, next } = await queryPage(table, range, budget, { consistent, start });
    if (items.length > 0) yield items.map(toRow);
    start = next;
  } while (start);
}

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
