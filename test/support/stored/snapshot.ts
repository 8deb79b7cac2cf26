import {
  type AttributeValue,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import type { Stores } from '../stores.ts';
import { readBytes, type WrittenBytes, writeBytes } from './bytes.ts';

/*
 * All that stores hold. The clients are the SDK's own and find their endpoints in the environment.
 * So nothing of core has a part in what is written to files and read from them.
 */

/** What the stores of a test file are called. */
export type StoreNames = Pick<
  Stores,
  'callsTable' | 'objectsTable' | 'costsTable' | 'feedbackTable' | 'keysTable' | 'bucket'
>;

/** An attribute that is in a file as it is in the table. */
type Plain = { readonly S: string } | { readonly N: string } | { readonly L: AttributeValue[] };

type Attribute = { readonly B: WrittenBytes } | { readonly M: Attributes } | Plain;

type Attributes = { readonly [name: string]: Attribute };

/** An item of a table, or an object of the bucket. */
export type Entry =
  | { readonly in: TableKind; readonly item: Attributes }
  | { readonly in: 'bucket'; readonly key: string; readonly body: WrittenBytes };

type Item = Record<string, AttributeValue>;

const tables = {
  calls: { name: 'callsTable', key: ['k', 'p'] },
  objects: { name: 'objectsTable', key: ['k', 's'] },
  costs: { name: 'costsTable', key: ['k', 'p'] },
  feedback: { name: 'feedbackTable', key: ['k'] },
  keys: { name: 'keysTable', key: ['id'] },
} as const;

type TableKind = keyof typeof tables;

const kinds = Object.keys(tables) as TableKind[];

/** Writes an item for a file, its attributes in the order of their names. */
const fromItem = (item: Item): Attributes => {
  const sorted = Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, value]) => [name, fromAttribute(value)]));
};

const fromAttribute = (value: AttributeValue): Attribute => {
  if (value.B) return { B: writeBytes(value.B) };
  return value.M ? { M: fromItem(value.M) } : (value as Plain);
};

const toItem = (item: Attributes): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toAttribute(value)]));

const toAttribute = (value: Attribute): AttributeValue => {
  if ('B' in value) return { B: readBytes(value.B) };
  return 'M' in value ? { M: toItem(value.M) } : value;
};

const keyOf = ({ in: kind, item }: Extract<Entry, { item: unknown }>): Attributes => {
  const names: readonly string[] = tables[kind].key;
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
};

/** Tells an entry from all others. */
export const nameOf = (entry: Entry): string =>
  `${entry.in} ${entry.in === 'bucket' ? entry.key : JSON.stringify(keyOf(entry))}`;

/** Reads all that the stores hold, in the order of its names. */
export const takeSnapshot = async (stores: StoreNames): Promise<Entry[]> => {
  const [client, s3] = [new DynamoDBClient(), new S3Client()];
  const entries: Entry[] = [];
  for (const kind of kinds) {
    const request = { TableName: stores[tables[kind].name], ConsistentRead: true };
    for await (const { Items = [] } of paginateScan({ client }, request))
      entries.push(...Items.map((item) => ({ in: kind, item: fromItem(item) })));
  }
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket: stores.bucket })) {
    for (const { Key: key = '' } of Contents) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: stores.bucket, Key: key }));
      const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
      entries.push({ in: 'bucket', key, body: writeBytes(bytes) });
    }
  }
  return entries.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
};

/** Puts entries into the stores. */
export const restoreSnapshot = async (stores: StoreNames, entries: readonly Entry[]): Promise<void> => {
  const [client, s3] = [new DynamoDBClient(), new S3Client()];
  for (const entry of entries) {
    if (entry.in === 'bucket') {
      const object = { Bucket: stores.bucket, Key: entry.key, Body: readBytes(entry.body) };
      await s3.send(new PutObjectCommand(object));
    } else {
      const TableName = stores[tables[entry.in].name];
      await client.send(new PutItemCommand({ TableName, Item: toItem(entry.item) }));
    }
  }
};

/** Removes all that the stores hold. */
export const clearStores = async (stores: StoreNames): Promise<void> => {
  const [client, s3] = [new DynamoDBClient(), new S3Client()];
  for (const entry of await takeSnapshot(stores)) {
    if (entry.in === 'bucket')
      await s3.send(new DeleteObjectCommand({ Bucket: stores.bucket, Key: entry.key }));
    else {
      const TableName = stores[tables[entry.in].name];
      await client.send(new DeleteItemCommand({ TableName, Key: toItem(keyOf(entry)) }));
    }
  }
};
