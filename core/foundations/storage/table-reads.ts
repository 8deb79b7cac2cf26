import { BatchGetCommand, QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { documents } from './documents.ts';
import type { Item } from './item.ts';
import { mapConcurrent } from './map-concurrent.ts';
import { rawItems } from './raw-items.ts';
import type { RequestBudget } from './request-budget.ts';
import { withRetries } from './retries.ts';
import { batchConcurrency, chunked, meter, type Table } from './table.ts';

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
