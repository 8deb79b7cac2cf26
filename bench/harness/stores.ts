/** Stores in memory behind the real DynamoDB client, so that only this process's CPU time is measured. */

import { HttpResponse } from '@smithy/core/protocols';
import { dynamodbClient, type Store } from '../../core/foundations/storage/index.ts';
import { type IndexName, tables } from '../../core/foundations/storage/tables.ts';
import { localCredentials } from '../../local/stores.ts';
import { localRegion } from '../../local/template/cloudformation.ts';
import { names } from './bench.ts';

/**
 * The table's successful answers to the requests of a batch with starts and ends. Nothing is stored
 * before.
 */
const storeAnswers: Readonly<Record<string, (body: string) => string>> = {
  BatchWriteItem: () => '{"UnprocessedItems":{}}',
  BatchGetItem: () => '{"Responses":{},"UnprocessedKeys":{}}',
  BatchExecuteStatement: (body) => {
    const { Statements } = JSON.parse(body) as { Statements: readonly object[] };
    return JSON.stringify({ Responses: Statements.map(() => ({ TableName: 'calls' })) });
  },
  UpdateItem: () => '{}',
};

/**
 * A store whose client does everything but send: requests are made, signed and answered at once.
 *
 * @param answerOf the body of the answer to an operation and the JSON of its request
 */
const storeAnswering = (answerOf: (operation: string, body: string) => string): Store => {
  const handle = async (request: { headers: Record<string, string>; body: Uint8Array }) => {
    const operation = request.headers['x-amz-target']?.split('.').at(-1) ?? '';
    const answer = answerOf(operation, new TextDecoder().decode(request.body));
    const headers = { 'content-type': 'application/x-amz-json-1.0' };
    return { response: new HttpResponse({ statusCode: 200, headers, body: Buffer.from(answer) }) };
  };
  const client = dynamodbClient({
    region: localRegion,
    credentials: localCredentials,
    requestHandler: { handle, metadata: { handlerProtocol: 'http/1.1' } } as never,
  });
  const bucket = { name: 'none', client: Promise.reject(new Error('nothing here is too big for an item')) };
  bucket.client.catch(() => {});
  return { table: { client, name: 'calls' }, bucket, names, shards: [4] };
};

/** A store that takes all writes at once and holds nothing. */
export const instantStore = (): Store =>
  storeAnswering((operation, body) => {
    const answerTo = storeAnswers[operation];
    if (answerTo === undefined) throw new Error(`no answer is known to ${operation}`);
    return answerTo(body);
  });

/** CPU time of this process with all threads, in ms a call. */
export const cpuEach = async (task: () => Promise<unknown>, calls: number): Promise<number> => {
  const before = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / calls;
};

// A calls table in memory behind the real client: requests are made and signed, and answers parsed,
// as always. It takes puts and answers queries of an index in pages of a megabyte, written as JSON
// beforehand. So the processor time of a scan is measured without DynamoDB Local's.

/** An attribute on the wire: bytes are base64. */
type WireItem = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface QueryBody {
  readonly IndexName: IndexName<'calls'>;
  readonly ExpressionAttributeValues: WireItem;
  readonly ExclusiveStartKey?: WireItem;
  readonly Limit?: number;
}

/** An insertion in PartiQL: the names of its attributes in the statement, and their values. */
interface Insert {
  readonly Statement: string;
  readonly Parameters: readonly WireItem[string][];
}

const insertedItem = ({ Statement, Parameters }: Insert): WireItem =>
  Object.fromEntries(
    [...Statement.matchAll(/'([^']+)':\?/g)].map(([, name = ''], i) => [name, Parameters[i] ?? {}]),
  );

const pageBytes = 1024 * 1024;

const bytesOf = (item: WireItem, name: string): Buffer => Buffer.from(item[name]?.B ?? '', 'base64');

/** The rows of an index by partition, in order. */
type Rows = ReadonlyMap<string, readonly WireItem[]>;

const rowsOf = (items: readonly WireItem[], index: IndexName<'calls'>): Rows => {
  const { partition, sort, projects } = tables.calls.indexes[index];
  const kept = new Set<string>([...projects, partition.name, sort.name, 'k', 'p']);
  const rows = items
    .filter((item) => item[partition.name] && item[sort.name])
    .map((item) => Object.fromEntries(Object.entries(item).filter(([name]) => kept.has(name))))
    .map((row) => ({ row, key: bytesOf(row, sort.name) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ row }) => row);
  return Map.groupBy(rows, (row) => row[partition.name]?.B ?? '');
};

/** A page of rows from a place on, as JSON. */
const pageOf = (rows: readonly WireItem[], from: number, limit: number): string => {
  const items: string[] = [];
  let bytes = 0;
  while (from + items.length < rows.length && items.length < limit && bytes < pageBytes) {
    const text = JSON.stringify(rows[from + items.length]);
    items.push(text);
    bytes += text.length;
  }
  const next = from + items.length;
  const last = next < rows.length ? `,"LastEvaluatedKey":{"at":{"S":"${next}"}}` : '';
  return `{"Items":[${items.join()}],"Count":${items.length}${last}}`;
};

/** A store over such a table. Its pages are kept, so that later scans take no time for them. */
export const recordedStore = (): Store => {
  const items: WireItem[] = [];
  const indexes = new Map<IndexName<'calls'>, Rows>();
  const pages = new Map<string, string>();
  const query = (body: QueryBody): string => {
    const rows = indexes.get(body.IndexName) ?? rowsOf(items, body.IndexName);
    indexes.set(body.IndexName, rows);
    const partition = body.ExpressionAttributeValues[':p']?.B ?? '';
    const [from, limit] = [
      Number(body.ExclusiveStartKey?.at?.S ?? 0),
      body.Limit ?? Number.POSITIVE_INFINITY,
    ];
    const name = [body.IndexName, partition, from, limit].join();
    const page = pages.get(name) ?? pageOf(rows.get(partition) ?? [], from, limit);
    pages.set(name, page);
    return page;
  };
  const answerOf = (operation: string, text: string): string => {
    const body = JSON.parse(text);
    if (operation === 'Query') return query(body);
    if (operation === 'BatchExecuteStatement') {
      const inserts: readonly Insert[] = body.Statements;
      items.push(...inserts.map(insertedItem));
      return JSON.stringify({ Responses: inserts.map(() => ({ TableName: 'calls' })) });
    }
    if (operation === 'BatchGetItem') return '{"Responses":{},"UnprocessedKeys":{}}';
    if (operation !== 'BatchWriteItem') throw new Error(`no answer is known to ${operation}`);
    for (const { PutRequest } of body.RequestItems.calls) items.push(PutRequest.Item);
    return '{"UnprocessedItems":{}}';
  };
  return storeAnswering(answerOf);
};
