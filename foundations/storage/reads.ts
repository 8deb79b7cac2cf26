import type { ConsumedCapacity, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { getEndpointFromInstructions } from '@smithy/core/endpoints';
import { HttpRequest } from '@smithy/core/protocols';
import { SignatureV4 } from '@smithy/signature-v4';
import { exactNumber, type Item, type Value } from './items.ts';
import { type RequestBudget, type RequestOptions, sendBatches, withRetries } from './requests.ts';
import { meter, type Table } from './store.ts';

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

/**
 * Lets a small heap grow to three times what is alive before V8 looks through all of it. Rows, and the
 * bytes that are unpacked for them, come and go so fast that it would do so every few requests:
 * docs/decisions/0160.
 */
const makeRoom = (): void =>
  process.getBuiltinModule('node:v8').setFlagsFromString('--heap-growing-percent=200');

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
  makeRoom();
  const { url } = await getEndpointFromInstructions({}, endpointRules, { ...config });
  return {
    url,
    signer: new SignatureV4({
      ...{
        region: config.region,
        service: 'dynamodb',
        sha256: config.sha256,
        credentials: config.credentials,
      },
    }),
  };
};

const targetOf = (client: DynamoDBClient): Promise<Target> => {
  const known = targets.get(client) ?? makeTarget(client);
  targets.set(client, known);
  return known;
};

/** An error that DynamoDB answered with, named and marked as the SDK does. */
const errorOf = (statusCode: number, body: string): Error => {
  let answer: { __type?: string; message?: string; Message?: string } = {};
  try {
    answer = JSON.parse(body);
  } catch {
    // Something between answered, and not in JSON.
  }
  const name = answer.__type?.split('#').at(-1) ?? `HTTP ${statusCode}`;
  const message = answer.message ?? answer.Message ?? name;
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: statusCode } });
};

/**
 * Sends a read to DynamoDB, once.
 *
 * @param input as the API has it on the wire
 * @throws Error as DynamoDB answers, by its name; the connection's own
 */
const send = async <Answer>(
  { client }: Table,
  operation: 'Query' | 'BatchGetItem',
  input: object,
  options: RequestOptions,
): Promise<Answer> => {
  const { url, signer } = await targetOf(client);
  const body = JSON.stringify(input);
  const request = new HttpRequest({
    ...{ protocol: url.protocol, hostname: url.hostname, method: 'POST', path: url.pathname },
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
  if (response.statusCode !== 200) throw errorOf(response.statusCode, text);
  return JSON.parse(text);
};

/** The attributes to read, as the fields of a request. */
const projectionOf = (attributes: readonly string[]) => ({
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
  const { ProjectionExpression, names } = projectionOf(options.attributes ?? []);
  const found: Item[] = [];
  const wanted = keys.map((key) =>
    Object.fromEntries(Object.entries(key).map(([name, value]) => [name, keyToWire(value)])),
  );
  await sendBatches(wanted, maxBatchGet, budget, async (Keys, request) => {
    const input = {
      RequestItems: {
        [table.name]: {
          ...{ Keys, ConsistentRead: options.consistent },
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
export interface Page {
  readonly items: Item[];
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
  readonly Items?: readonly WireItem[];
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
  options: PageOptions = {},
): Promise<Page> => {
  const [partition, key] = range.partition;
  const { ProjectionExpression, names } = projectionOf(options.attributes ?? []);
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
  let page: Page = { items: [], next: undefined };
  await withRetries(budget, async (request) => {
    const answer = await send<QueryAnswer>(table, 'Query', input, request);
    meter(budget, 'readUnits', answer.ConsumedCapacity);
    page = { items: answer.Items?.map(itemFromWire) ?? [], next: answer.LastEvaluatedKey };
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
