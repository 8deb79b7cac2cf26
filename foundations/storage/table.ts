import { randomUUID } from 'node:crypto';
import {
  type BatchStatementError,
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  type DynamoDBClient,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchExecuteStatementCommand,
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DeleteCommand,
  DynamoDBDocumentClient,
  NumberValue,
  PutCommand,
  paginateScan,
  ScanCommand,
  type ScanCommandInput,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { getEndpointFromInstructions } from '@smithy/core/endpoints';
import { HttpRequest } from '@smithy/core/protocols';
import { SignatureV4 } from '@smithy/signature-v4';
import { unavailable } from '../wire/index.ts';
import {
  isRetryable,
  isThrottling,
  type RequestBudget,
  type RequestOptions,
  sendBatches,
  withRetries,
} from './requests.ts';
import type { ExpiryOf, TableKey } from './tables.ts';

/*
 * Tables: their items, and all that is asked of them.
 */

/**
 * A value of an attribute: text, a number, bytes, truth, nothing, or a list or map of those. A
 * number that no double spells as DynamoDB does is a {@link NumberValue}, which is stored as it was
 * read.
 */
export type Value =
  | string
  | number
  | NumberValue
  | Uint8Array
  | boolean
  | null
  | readonly Value[]
  | { readonly [name: string]: Value };

/** An item, or the key of one: values by the names of their attributes. */
export type Item = Readonly<Record<string, Value>>;

/** The value where it is bytes, else undefined. */
export const asBytes = (value: Value | undefined): Uint8Array | undefined =>
  value instanceof Uint8Array ? value : undefined;

/** The value where it is text, else undefined. */
export const asText = (value: Value | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The value where it is a number that a double holds, else undefined. */
export const asNumber = (value: Value | undefined): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** The value where it is a map, else undefined. */
export const asMap = (value: Value | undefined): Item | undefined =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    ? (value as Item)
    : undefined;

/**
 * A number as a plain one where that has the same digits. Others keep their text: a copy of an item
 * must be the same to the last digit.
 */
const exactNumber = (text: string): number | NumberValue => {
  const number = Number(text);
  return String(number) === text ? number : NumberValue.from(text);
};

/*
 * DynamoDB's rules for item sizes, from its Developer Guide: "DynamoDB item sizes and formats".
 */

/** A number takes a byte per two significant digits, one more, and one for a minus sign. */
const numberBytes = (text: string): number => {
  const digits = text.replace(/^-/, '').replace(/e.*$/i, '').replace('.', '').replace(/^0+/, '');
  const significant = text.includes('.') ? digits : digits.replace(/0+$/, '');
  return Math.ceil(significant.length / 2) + 1 + (text.startsWith('-') ? 1 : 0);
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The size of an attribute's value, in bytes. */
const valueBytes = (value: Value): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberBytes(String(value));
  if (value instanceof Uint8Array) return value.byteLength;
  if (Array.isArray(value)) return 3 + sum(value.map((element: Value) => 1 + valueBytes(element)));
  if (typeof value === 'boolean' || value === null) return 1;
  const map = asMap(value);
  if (!map) throw new Error(`no rule for the size of ${value}`);
  return 3 + sum(Object.entries(map).map((entry) => 1 + attributeBytes(...entry)));
};

const attributeBytes = (name: string, value: Value): number => Buffer.byteLength(name) + valueBytes(value);

/** An item of at most so many bytes takes one write unit, and at most one in each index. */
export const writeUnitBytes = 1024;

/** The size of an item in bytes: names and values of its attributes. */
export const itemBytes = (item: Item): number =>
  sum(Object.entries(item).map((entry) => attributeBytes(...entry)));

/** A DynamoDB table and a client for it. */
export interface Table {
  readonly client: DynamoDBClient;
  readonly name: string;
}

/**
 * Adds an answer's consumed capacity to the budget's meter. DynamoDB Local has none for PartiQL.
 */
const meter = (
  budget: RequestBudget,
  kind: 'readUnits' | 'writeUnits',
  capacity: ConsumedCapacity | undefined,
): void => {
  budget.meter[kind] += capacity?.CapacityUnits ?? 0;
};

/*
 * Reads speak DynamoDB's API themselves, with the SDK's connections, credentials and signature. A
 * request through the SDK's client takes twice the processor time, and the objects that it makes of
 * every attribute take longer than all that is done with them.
 *
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
 */

/** An attribute's value on the wire, e.g. `{"B": "<base64>"}`. */
type WireValue = Readonly<Record<string, unknown>>;
/** An item on the wire. */
export type WireItem = Readonly<Record<string, WireValue>>;

/**
 * Reads an attribute's value.
 *
 * @throws Error if it is of a type that items do not have: a set
 */
const fromWire = (wire: WireValue): Value => {
  if (wire.B !== undefined) return Buffer.from(wire.B as string, 'base64');
  if (wire.S !== undefined) return wire.S as string;
  if (wire.N !== undefined) return exactNumber(wire.N as string);
  if (wire.BOOL !== undefined) return wire.BOOL as boolean;
  if (wire.NULL !== undefined) return null;
  if (wire.L !== undefined) return (wire.L as WireValue[]).map(fromWire);
  if (wire.M !== undefined) return itemFromWire(wire.M as WireItem);
  throw new Error(`no item may hold a value of the type ${Object.keys(wire)}`);
};

/**
 * Reads an item.
 *
 * @throws Error if an attribute is of a type that items do not have: a set
 */
export const itemFromWire = (wire: WireItem): Item => {
  const item: Record<string, Value> = {};
  for (const name in wire) {
    const value = wire[name];
    if (value !== undefined) item[name] = fromWire(value);
  }
  return item;
};

/** An attribute of an item, if it is bytes. */
export const bytesFromWire = (item: WireItem, name: string): Uint8Array | undefined => {
  const bytes = item[name]?.B;
  return typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : undefined;
};

/**
 * An attribute of a key.
 *
 * @throws Error if it is neither text nor bytes
 */
const keyToWire = (value: Value | undefined): WireValue => {
  if (typeof value === 'string') return { S: value };
  if (value instanceof Uint8Array)
    return { B: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  throw new Error(`no key has an attribute of the type ${typeof value}`);
};

/** Where a client's requests go, and how they are signed. */
interface Target {
  readonly url: URL;
  readonly signer: SignatureV4;
}

const targets = new WeakMap<DynamoDBClient, Promise<Target>>();

/** What the SDK is to consider of its configuration. It finds the rest in environment and files. */
const endpointRules = {
  getEndpointParameterInstructions: () => ({
    Region: { type: 'builtInParams', name: 'region' } as const,
    Endpoint: { type: 'builtInParams', name: 'endpoint' } as const,
    UseFIPS: { type: 'builtInParams', name: 'useFipsEndpoint' } as const,
    UseDualStack: { type: 'builtInParams', name: 'useDualstackEndpoint' } as const,
  }),
};

const makeTarget = async ({ config }: DynamoDBClient): Promise<Target> => {
  const { url } = await getEndpointFromInstructions({}, endpointRules, { ...config });
  return {
    url,
    signer: new SignatureV4({
      region: config.region,
      service: 'dynamodb',
      sha256: config.sha256,
      credentials: config.credentials,
    }),
  };
};

const getTarget = (client: DynamoDBClient): Promise<Target> => {
  const known = targets.get(client) ?? makeTarget(client);
  targets.set(client, known);
  return known;
};

/** An error that DynamoDB answered with, named and marked as the SDK does, with the item that it shows. */
const toError = (statusCode: number, body: string): Error => {
  let answer: { __type?: string; message?: string; Message?: string; Item?: WireItem } = {};
  try {
    answer = JSON.parse(body);
  } catch {
    // Something between answered, and not in JSON.
  }
  const name = answer.__type?.split('#').at(-1) ?? `HTTP ${statusCode}`;
  const message = answer.message ?? answer.Message ?? name;
  const details = { name, $metadata: { httpStatusCode: statusCode }, Item: answer.Item };
  return Object.assign(new Error(message), details);
};

/**
 * Sends a request to DynamoDB, once.
 *
 * @param input as the API has it on the wire
 * @throws Error as DynamoDB answers, by its name; the connection's own
 */
const send = async <Answer>(
  { client }: Table,
  operation: 'Query' | 'Scan' | 'BatchGetItem' | 'UpdateItem',
  input: object,
  options: RequestOptions,
): Promise<Answer> => {
  const { url, signer } = await getTarget(client);
  const body = JSON.stringify(input);
  const request = new HttpRequest({
    protocol: url.protocol,
    hostname: url.hostname,
    method: 'POST',
    path: url.pathname,
    ...(url.port && { port: Number(url.port) }),
    headers: {
      host: url.host,
      'content-type': 'application/x-amz-json-1.0',
      'content-length': String(Buffer.byteLength(body)),
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    },
    body,
  });
  const signed = await signer.sign(request);
  const { response } = await client.config.requestHandler.handle(signed as HttpRequest, options);
  const pieces: Buffer[] = [];
  for await (const piece of response.body) pieces.push(piece);
  const text = Buffer.concat(pieces).toString('utf8');
  if (response.statusCode !== 200) throw toError(response.statusCode, text);
  return JSON.parse(text);
};

/** The attributes to read, as the fields of a request. */
const toProjection = (attributes: readonly string[]) => ({
  ProjectionExpression: attributes.map((_, i) => `#a${i}`).join(', '),
  names: Object.fromEntries(attributes.map((name, i) => [`#a${i}`, name])),
});

/** DynamoDB's limit of keys per request. */
const maxBatchGet = 100;

interface BatchGetAnswer {
  readonly Responses?: Readonly<Record<string, readonly WireItem[]>>;
  readonly UnprocessedKeys?: Readonly<Record<string, { readonly Keys: WireItem[] }>>;
  readonly ConsumedCapacity?: readonly ConsumedCapacity[];
}

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
  const { ProjectionExpression, names } = toProjection(options.attributes ?? []);
  const found: Item[] = [];
  const requestKeys = keys.map((key) =>
    Object.fromEntries(Object.entries(key).map(([name, value]) => [name, keyToWire(value)])),
  );
  await sendBatches(requestKeys, maxBatchGet, budget, async (Keys, request) => {
    const input = {
      RequestItems: {
        [table.name]: {
          Keys,
          ConsistentRead: options.consistent,
          ...(options.attributes && { ProjectionExpression, ExpressionAttributeNames: names }),
        },
      },
      ReturnConsumedCapacity: 'TOTAL',
    };
    const answer = await send<BatchGetAnswer>(table, 'BatchGetItem', input, request);
    meter(budget, 'readUnits', answer.ConsumedCapacity?.[0]);
    for (const item of answer.Responses?.[table.name] ?? []) found.push(itemFromWire(item));
    return answer.UnprocessedKeys?.[table.name]?.Keys ?? [];
  });
  return found;
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

/** Where a page starts: the key of the last item before it, as DynamoDB gave it. */
export type Cursor = WireItem;

/** One page of a query. */
export interface Page<I = Item> {
  readonly items: I[];
  /** Where the next page starts; undefined on the last one. */
  readonly next: Cursor | undefined;
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
  readonly start?: Cursor | undefined;
}

interface QueryAnswer {
  readonly Items?: WireItem[];
  readonly LastEvaluatedKey?: WireItem;
  readonly ConsumedCapacity?: ConsumedCapacity;
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
  options?: PageOptions,
): Promise<Page> => {
  const { items, next } = await queryWirePage(table, range, budget, options);
  return { items: items.map(itemFromWire), next };
};

/** Reads one page of a key range as {@link queryPage} does, with items as they are on the wire. */
export const queryWirePage = async (
  table: Table,
  range: KeyRange,
  budget: RequestBudget,
  options: PageOptions = {},
): Promise<Page<WireItem>> => {
  const [partition, key] = range.partition;
  const { ProjectionExpression, names } = toProjection(options.attributes ?? []);
  const input = {
    TableName: table.name,
    IndexName: range.index,
    KeyConditionExpression: range.sort ? '#p = :p AND #s BETWEEN :from AND :to' : '#p = :p',
    ExpressionAttributeNames: { '#p': partition, ...(range.sort && { '#s': range.sort[0] }), ...names },
    ExpressionAttributeValues: {
      ':p': keyToWire(key),
      ...(range.sort && { ':from': keyToWire(range.sort[1]), ':to': keyToWire(range.sort[2]) }),
    },
    ...(options.attributes && { ProjectionExpression }),
    ScanIndexForward: !options.descending,
    ConsistentRead: options.consistent ?? false,
    Limit: options.limit,
    ExclusiveStartKey: options.start,
    ReturnConsumedCapacity: 'TOTAL',
  };
  let page: Page<WireItem> = { items: [], next: undefined };
  await withRetries(budget, async (request) => {
    const answer = await send<QueryAnswer>(table, 'Query', input, request);
    meter(budget, 'readUnits', answer.ConsumedCapacity);
    page = { items: answer.Items ?? [], next: answer.LastEvaluatedKey };
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
  /** The attributes to read. @default - all */
  readonly attributes?: readonly string[];
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
  { toRow, ...how }: RangeOptions<T>,
  budget: RequestBudget,
): AsyncGenerator<readonly T[]> {
  let start: Cursor | undefined;
  do {
    const { items, next } = await queryPage(table, range, budget, { ...how, start });
    if (items.length > 0) yield items.map(toRow);
    start = next;
  } while (start);
}

/** Which items of a table a scan gives: those of partitions, and of all partitions that begin so. */
export interface ScanFilter {
  readonly partitions?: readonly Uint8Array[];
  readonly prefixes?: readonly Uint8Array[];
}

/** One of the parts that a table is read in, and where its page starts. */
export interface ScanPart {
  readonly segment: number;
  readonly segments: number;
  readonly start?: Cursor | undefined;
  /** The attributes to read. It makes answers smaller, not cheaper. */
  readonly attributes: readonly string[];
}

/**
 * Reads one page of a whole table, strongly consistent: what no index leads to. It costs as much as the page
 * of 1 MB that it looks through, whatever it finds.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const scanPage = async (
  table: Table,
  { partitions = [], prefixes = [] }: ScanFilter,
  { segment, segments, start, attributes }: ScanPart,
  budget: RequestBudget,
): Promise<Page> => {
  const { ProjectionExpression, names } = toProjection(attributes);
  const input = {
    TableName: table.name,
    FilterExpression: [
      ...partitions.map((_, i) => `#k = :e${i}`),
      ...prefixes.map((_, i) => `begins_with(#k, :p${i})`),
    ].join(' OR '),
    ProjectionExpression,
    ExpressionAttributeNames: { '#k': 'k', ...names },
    ExpressionAttributeValues: Object.fromEntries([
      ...partitions.map((key, i) => [`:e${i}`, keyToWire(key)]),
      ...prefixes.map((key, i) => [`:p${i}`, keyToWire(key)]),
    ]),
    ConsistentRead: true,
    Segment: segment,
    TotalSegments: segments,
    ExclusiveStartKey: start,
    ReturnConsumedCapacity: 'TOTAL',
  };
  let page: Page = { items: [], next: undefined };
  await withRetries(budget, async (request) => {
    const answer = await send<QueryAnswer>(table, 'Scan', input, request);
    meter(budget, 'readUnits', answer.ConsumedCapacity);
    page = { items: answer.Items?.map(itemFromWire) ?? [], next: answer.LastEvaluatedKey };
    return true;
  });
  return page;
};

/*
 * All else goes through the SDK's document client: writes are fewer, and what they wait for is longer.
 */

const documentClients = new WeakMap<DynamoDBClient, DynamoDBDocumentClient>();

/**
 * The document client of a table: its commands take and give items as plain objects. It shares the
 * connections and the middleware of the table's own client, which alone is to be destroyed.
 */
export const documents = ({ client }: Pick<Table, 'client'>): DynamoDBDocumentClient => {
  const known = documentClients.get(client);
  if (known) return known;
  const made = DynamoDBDocumentClient.from(client, { unmarshallOptions: { wrapNumbers: exactNumber } });
  documentClients.set(client, made);
  return made;
};

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

/**
 * Reads a whole table that is small, such as that of keys, for a request.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const scanItems = async (table: Table, budget: RequestBudget): Promise<Item[]> => {
  const items: Item[] = [];
  let start: ScanCommandInput['ExclusiveStartKey'];
  do {
    const command = new ScanCommand({
      TableName: table.name,
      ConsistentRead: true,
      ReturnConsumedCapacity: 'TOTAL',
      ...(start && { ExclusiveStartKey: start }),
    });
    await withRetries(budget, async (options) => {
      const {
        Items = [],
        LastEvaluatedKey,
        ConsumedCapacity,
      } = await documents(table).send(command, options);
      meter(budget, 'readUnits', ConsumedCapacity);
      items.push(...Items);
      start = LastEvaluatedKey;
      return true;
    });
  } while (start);
  return items;
};

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
const toCondition = (expected: Condition) => {
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
  const command = new PutCommand({ ...input, ...toCondition(expected) });
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
  const command = new DeleteCommand({ ...input, ...toCondition(expected) });
  return sendIf(budget, (options) => documents(table).send(command, options));
};

/** Writes that hold together or not at all: at most 100 items, each once. */
export interface Transaction {
  readonly puts: readonly { readonly item: Item; readonly expected?: Condition }[];
  /** Keys of items to delete. Those without an item are ignored. */
  readonly deletes?: readonly Item[];
  /** Items to delete that must be as expected. */
  readonly removals?: readonly { readonly key: Item; readonly expected: Condition }[];
  /** Items that must be as expected, and stay. */
  readonly checks?: readonly { readonly key: Item; readonly expected: Condition }[];
  /** Numbers of further items that grow. An item is made if there is none. */
  readonly adds?: readonly Addition[];
}

/** Something that is added to numbers of an item. */
export interface Addition {
  readonly key: Item;
  /**
   * The attributes that it is added to, with the most that each may be before: undefined for any. A missing
   * number is always few enough.
   */
  readonly to: Readonly<Record<string, number | undefined>>;
  /** A whole number, which may be below 0. */
  readonly by: number;
  /** The attribute that makes the item expire, in seconds since 1970. */
  readonly expiry: { readonly x: number };
}

/** An addition as the fields of a request, with values as they are. */
const toUpdate = ({ to, by, expiry }: Addition) => {
  const attributes = Object.entries(to).map(([name, atMost], i) => ({
    name,
    at: `#a${i}`,
    most: `:m${i}`,
    atMost,
  }));
  const bounded = attributes.flatMap(({ atMost, ...rest }) =>
    atMost === undefined ? [] : [{ ...rest, atMost }],
  );
  return {
    UpdateExpression: `SET x = :x ADD ${attributes.map(({ at }) => `${at} :by`).join(', ')}`,
    ...(bounded.length > 0 && {
      ConditionExpression: bounded
        .map(({ at, most }) => `(attribute_not_exists(${at}) OR ${at} <= ${most})`)
        .join(' AND '),
    }),
    ExpressionAttributeNames: Object.fromEntries(attributes.map(({ at, name }) => [at, name])),
    ExpressionAttributeValues: {
      ':x': expiry.x,
      ':by': by,
      ...Object.fromEntries(bounded.map(({ most, atMost }) => [most, atMost])),
    },
  };
};

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
  { puts, deletes = [], removals = [], checks = [], adds = [] }: Transaction,
  budget: RequestBudget,
): Promise<boolean> => {
  const TableName = table.name;
  const command = new TransactWriteCommand({
    ClientRequestToken: randomUUID(),
    TransactItems: [
      ...puts.map(({ item, expected }) => ({
        Put: { TableName, Item: item, ...(expected && toCondition(expected)) },
      })),
      ...deletes.map((Key) => ({ Delete: { TableName, Key } })),
      ...removals.map(({ key, expected }) => ({
        Delete: { TableName, Key: key, ...toCondition(expected) },
      })),
      ...checks.map(({ key, expected }) => ({
        ConditionCheck: { TableName, Key: key, ...toCondition(expected) },
      })),
      ...adds.map((addition) => ({
        Update: { TableName, Key: addition.key, ...toUpdate(addition) },
      })),
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

/** What became of an addition. */
export interface Added {
  /** Whether it was added; false if a number was larger than it may be before. */
  readonly isAdded: boolean;
  /** The item since. */
  readonly item: Item;
}

interface UpdateAnswer {
  readonly Attributes?: WireItem;
  readonly ConsumedCapacity?: ConsumedCapacity;
}

/**
 * Adds to numbers of one item. It takes half the units of a transaction, and requests at the same item
 * stand in line instead of turning each other away: docs/decisions/0261.
 *
 * DynamoDB does not recognize a repeated update. So what adds is sent again if its answer was lost, and
 * may then be added twice if others have changed the item in between. What takes away is not sent again.
 * In either case the number is never too small.
 *
 * @throws ServiceError 503 when storage does not answer in time, or the answer to what takes away was lost
 */
export const addToItem = async (table: Table, addition: Addition, budget: RequestBudget): Promise<Added> => {
  const { key, by } = addition;
  const { UpdateExpression, ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues } =
    toUpdate(addition);
  // Says whose the last change was, so that a repeated one is recognized.
  const token = randomUUID();
  const notYet = '(attribute_not_exists(w) OR w <> :w)';
  const input = {
    TableName: table.name,
    Key: Object.fromEntries(Object.entries(key).map(([name, value]) => [name, keyToWire(value)])),
    UpdateExpression: UpdateExpression.replace('SET ', 'SET w = :w, '),
    ConditionExpression: ConditionExpression ? `${notYet} AND ${ConditionExpression}` : notYet,
    ExpressionAttributeNames,
    ExpressionAttributeValues: {
      ...Object.fromEntries(
        Object.entries(ExpressionAttributeValues).map(([name, value]) => [name, { N: String(value) }]),
      ),
      ':w': { S: token },
    },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    ReturnConsumedCapacity: 'TOTAL',
  };
  let added: Added | undefined;
  let lost: unknown;
  await withRetries(budget, async (request) => {
    try {
      const answer = await send<UpdateAnswer>(table, 'UpdateItem', input, request);
      meter(budget, 'writeUnits', answer.ConsumedCapacity);
      added = { isAdded: true, item: itemFromWire(answer.Attributes ?? {}) };
    } catch (error) {
      const { name, Item } = error as { name?: string; Item?: WireItem };
      if (name === 'TransactionConflictException') return false;
      if (name === 'ConditionalCheckFailedException') {
        const item = itemFromWire(Item ?? {});
        added = { isAdded: item.w === token, item };
      } else if (by > 0 || isThrottling(error) || !isRetryable(error)) throw error;
      else lost = error;
    }
    return true;
  });
  if (!added) throw unavailable(lost);
  return added;
};

/**
 * Has an item expire, at the latest at a time in seconds since 1970. It never makes one that is not there, and
 * costs what the item is large, whether it changes anything or not.
 *
 * @param unlessBefore an item that expires before this stays as it is. @default - the same time
 * @returns the item since, also if it expired then already; undefined if it stays as it is or is not there
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const expireBy = async (
  table: Table,
  key: Item,
  time: number,
  budget: RequestBudget,
  unlessBefore = time,
): Promise<Item | undefined> => {
  const input = {
    TableName: table.name,
    Key: Object.fromEntries(Object.entries(key).map(([name, value]) => [name, keyToWire(value)])),
    UpdateExpression: 'SET x = :x',
    ConditionExpression: 'attribute_exists(k) AND (attribute_not_exists(x) OR x >= :least)',
    ExpressionAttributeValues: { ':x': { N: String(time) }, ':least': { N: String(unlessBefore) } },
    ReturnValues: 'ALL_NEW',
    ReturnConsumedCapacity: 'TOTAL',
  };
  let item: Item | undefined;
  await withRetries(budget, async (request) => {
    try {
      const answer = await send<UpdateAnswer>(table, 'UpdateItem', input, request);
      meter(budget, 'writeUnits', answer.ConsumedCapacity);
      item = itemFromWire(answer.Attributes ?? {});
    } catch (error) {
      const { name } = error as { name?: string };
      if (name !== 'ConditionalCheckFailedException') throw error;
    }
    return true;
  });
  return item;
};

/** A number of an item of the table `bookkeeping` that is to be at least so large. */
export interface Raise {
  readonly key: TableKey<'bookkeeping'>;
  readonly attribute: string;
  readonly value: number;
  /** The attribute that makes the item expire, if it does. */
  readonly expiry?: ExpiryOf<'bookkeeping'> | undefined;
  /** Whether a number that is there stays, however small. @default false */
  readonly onlyIfAbsent?: boolean;
}

/** The numbers of an item that a failed condition shows, by their attributes. */
const getNumbers = (item: unknown): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries((item ?? {}) as WireItem).flatMap(([name, { N }]) => (N ? [[name, Number(N)]] : [])),
  );

/**
 * Raises a number of an item, which is made if there is none. A larger number stays, so it makes no
 * difference in which order requests arrive, or how often.
 *
 * @returns the numbers of the item if the stored one stays, at no further cost; none if it was raised
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const raiseNumber = async (
  table: Table,
  { key, attribute, value, expiry, onlyIfAbsent = false }: Raise,
  budget: RequestBudget,
): Promise<Readonly<Record<string, number>>> => {
  const command = new UpdateCommand({
    TableName: table.name,
    Key: key,
    UpdateExpression: `SET #a = :value${expiry ? ', x = :x' : ''}`,
    ConditionExpression: `attribute_not_exists(#a)${onlyIfAbsent ? '' : ' OR #a < :value'}`,
    ExpressionAttributeNames: { '#a': attribute },
    ExpressionAttributeValues: { ':value': value, ...(expiry && { ':x': expiry.x }) },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    ReturnConsumedCapacity: 'TOTAL',
  });
  let found: unknown;
  await sendIf(budget, (options) =>
    documents(table)
      .send(command, options)
      .catch((error: unknown) => {
        if (error instanceof ConditionalCheckFailedException) found = error.Item;
        throw error;
      }),
  );
  return getNumbers(found);
};

/**
 * Takes an attribute out of an item of the table `bookkeeping`, if it is there.
 *
 * @returns the other numbers of the item, whether it has the attribute or not; none if there is no item
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const removeAttribute = async (
  table: Table,
  { key, attribute }: Pick<Raise, 'key' | 'attribute'>,
  budget: RequestBudget,
): Promise<Readonly<Record<string, number>>> => {
  const command = new UpdateCommand({
    TableName: table.name,
    Key: key,
    UpdateExpression: 'REMOVE #a',
    ConditionExpression: 'attribute_exists(#a)',
    ExpressionAttributeNames: { '#a': attribute },
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    ReturnConsumedCapacity: 'TOTAL',
  });
  let found: Readonly<Record<string, unknown>> = {};
  let without: unknown;
  await sendIf(budget, async (options) => {
    try {
      const answer = await documents(table).send(command, options);
      found = answer.Attributes ?? {};
      return answer;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) without = error.Item;
      throw error;
    }
  });
  const numbers = Object.entries(found).flatMap(([name, value]) =>
    typeof value === 'number' ? [[name, value] as const] : [],
  );
  return { ...getNumbers(without), ...Object.fromEntries(numbers) };
};

/**
 * Sets a text of an item of the table `bookkeeping`, which is made if there is none.
 *
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const setText = async (
  table: Table,
  { key, attribute, value, expiry }: Omit<Raise, 'value' | 'onlyIfAbsent'> & { readonly value: string },
  budget: RequestBudget,
): Promise<void> => {
  const command = new UpdateCommand({
    TableName: table.name,
    Key: key,
    UpdateExpression: `SET #a = :value${expiry ? ', x = :x' : ''}`,
    ExpressionAttributeNames: { '#a': attribute },
    ExpressionAttributeValues: { ':value': value, ...(expiry && { ':x': expiry.x }) },
    ReturnConsumedCapacity: 'TOTAL',
  });
  await sendIf(budget, (options) => documents(table).send(command, options));
};

/**
 * Sets numbers of an item of the table `bookkeeping`, which is made if there is none.
 *
 * @param version a number that says of which version they are: those of a later one stay
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const setNumbers = async (
  table: Table,
  {
    key,
    values,
    version: [attribute, version],
  }: {
    readonly key: TableKey<'bookkeeping'>;
    readonly values: Readonly<Record<string, number>>;
    readonly version: readonly [attribute: string, number];
  },
  budget: RequestBudget,
): Promise<void> => {
  const names = [attribute, ...Object.keys(values)];
  const command = new UpdateCommand({
    TableName: table.name,
    Key: key,
    UpdateExpression: `SET ${names.map((_, i) => `#a${i} = :v${i}`).join(', ')}`,
    ConditionExpression: 'attribute_not_exists(#a0) OR #a0 <= :v0',
    ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#a${i}`, name])),
    ExpressionAttributeValues: Object.fromEntries(
      [version, ...Object.values(values)].map((value, i) => [`:v${i}`, value]),
    ),
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
