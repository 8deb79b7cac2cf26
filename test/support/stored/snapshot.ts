import { createHash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
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
import type { Stores } from '../service/stores.ts';
import { withMarkers, withoutMarkers } from './noise.ts';

/*
 * All that stores hold. The clients are the SDK's own and find their endpoints in the environment.
 * So nothing of core has a part in what is written to files and read from them.
 */

/** What the stores of a test file are called. */
type StoreNames = Pick<
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

const getKey = ({ in: kind, item }: Extract<Entry, { item: unknown }>): Attributes => {
  const names: readonly string[] = tables[kind].key;
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
};

/** Tells an entry from all others. */
const toName = (entry: Entry): string =>
  `${entry.in} ${entry.in === 'bucket' ? entry.key : JSON.stringify(getKey(entry))}`;

/** Reads all that the stores hold, in the order of its names. */
export const takeSnapshot = async (stores: StoreNames): Promise<Entry[]> => {
  const client = new DynamoDBClient();
  const s3 = new S3Client();
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
  return entries.sort((a, b) => (toName(a) < toName(b) ? -1 : 1));
};

/** Puts entries into the stores. */
export const restoreSnapshot = async (stores: StoreNames, entries: readonly Entry[]): Promise<void> => {
  const client = new DynamoDBClient();
  const s3 = new S3Client();
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
  const client = new DynamoDBClient();
  const s3 = new S3Client();
  for (const entry of await takeSnapshot(stores)) {
    if (entry.in === 'bucket')
      await s3.send(new DeleteObjectCommand({ Bucket: stores.bucket, Key: entry.key }));
    else {
      const TableName = stores[tables[entry.in].name];
      await client.send(new DeleteItemCommand({ TableName, Key: toItem(getKey(entry)) }));
    }
  }
};

/**
 * Bytes in a file: base64; of a large zstd frame its content, with markers for noise, and the
 * SHA-256 of the frame.
 */
export type WrittenBytes = string | { readonly zstd: string; readonly sha256: string };

const magic = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);
/** Frames of more bytes are large. */
const maxWrittenFrame = 4096;

/** The parameters that payloads are compressed with. */
const params = {
  [constants.ZSTD_c_compressionLevel]: 3,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: 23,
  [constants.ZSTD_c_checksumFlag]: 1,
};

const isFrame = (bytes: Uint8Array): boolean => magic.equals(bytes.subarray(0, magic.length));

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** What a frame holds, as text; undefined for bytes that are no frame. */
const unpack = (bytes: Uint8Array): string | undefined =>
  isFrame(bytes) ? zstdDecompressSync(bytes).toString('utf8') : undefined;

/** Writes bytes for a file. */
const writeBytes = (bytes: Uint8Array): WrittenBytes => {
  const content = bytes.length > maxWrittenFrame ? unpack(bytes) : undefined;
  if (content === undefined) return Buffer.from(bytes).toString('base64');
  return { zstd: withMarkers(content), sha256: sha256(bytes) };
};

/** Reads bytes from a file. Another version of zstd makes other frames of the same content. */
const readBytes = (written: WrittenBytes): Buffer => {
  if (typeof written === 'string') return Buffer.from(written, 'base64');
  const content = Buffer.from(withoutMarkers(written.zstd), 'utf8');
  return zstdCompressSync(content, { params, pledgedSrcSize: content.length });
};

/** The same bytes in the form in which those of two versions of zstd are equal. */
const comparableBytes = (written: WrittenBytes): WrittenBytes | { readonly zstd: string } => {
  if (typeof written !== 'string') return { zstd: written.zstd };
  const content = unpack(Buffer.from(written, 'base64'));
  return content === undefined ? written : { zstd: withMarkers(content) };
};

/** What becomes of entries: those that are put, in full, and the names of those that go. */
export interface Changes {
  readonly put: readonly Entry[];
  readonly gone: readonly string[];
}

const byName = (entries: readonly Entry[]): Map<string, Entry> =>
  new Map(entries.map((entry) => [toName(entry), entry]));

/** Says what has become of entries. */
export const findChanges = (before: readonly Entry[], after: readonly Entry[]): Changes => {
  const old = byName(before);
  const now = byName(after);
  const isSame = (entry: Entry) => JSON.stringify(old.get(toName(entry))) === JSON.stringify(entry);
  return {
    put: after.filter((entry) => !isSame(entry)),
    gone: [...old.keys()].filter((name) => !now.has(name)),
  };
};

/** Makes changes to entries. */
export const withChanges = (before: readonly Entry[], { put, gone }: Changes): Entry[] => {
  const entries = byName(before);
  for (const name of gone) entries.delete(name);
  for (const entry of put) entries.set(toName(entry), entry);
  return [...entries.values()];
};

/** The sixteen hex digits that a feedback payload's object ends with are random. */
const withoutNonce = (text: string): string =>
  text.replace(/(feedback\/[^"]*-)[0-9a-f]{16}(?=\.zst)/g, '$1nonce');

/**
 * Entries as lines of JSON, in order, without what differs each time they are written.
 *
 * @param sameZstd whether all frames come of one version of zstd; if not their content counts alone
 */
export const comparable = (entries: readonly Entry[], sameZstd: boolean): string[] => {
  const text = (entry: Entry): string =>
    JSON.stringify(entry, (key, value: unknown) => {
      // The authorizer notes when a key was last used, some time after the request.
      if (key === 'usedOn') return undefined;
      return sameZstd || (key !== 'B' && key !== 'body')
        ? value
        : comparableBytes(value as Parameters<typeof comparableBytes>[0]);
    });
  return entries.map((entry) => withoutNonce(text(entry))).sort();
};
