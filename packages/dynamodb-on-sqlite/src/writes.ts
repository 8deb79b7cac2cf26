import type { Database, Row, StoredTable } from './database.ts';
import { conditionFailed, invalid } from './errors.ts';
import { type Condition, holds } from './expressions.ts';
import { getIndexKey, type Index, type Key, keyAttributes, type TableDefinition } from './tables.ts';
import { attribute, attributeSize, type Item, itemSize, type SizedItem, sameItem } from './values.ts';

/** DynamoDB's limit of an item, in bytes. */
export const maxItemBytes = 400 * 1024;

/** The units that a request takes of a table and of its indexes. */
export interface Units {
  readonly table: number;
  readonly indexes: ReadonlyMap<string, number>;
}

/** The write units of an item or a row of this size, in bytes: one at least. */
const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1024));

/** An item as it lies in a table. */
export interface Stored extends SizedItem {
  readonly text: string;
}

/** A row's item. */
export const toStored = ({ size, text }: Row): Stored => {
  const item: Item = JSON.parse(text);
  return { item, size, text };
};

/** An item's row in an index; undefined if it has none. */
const toIndexRow = (
  table: TableDefinition,
  index: Index,
  { item, size, text }: Stored,
): (Row & { readonly key: Key }) | undefined => {
  const key = getIndexKey(index, item);
  if (!key) return undefined;
  if (!index.projects) return { key, size, text };
  const row: Record<string, Item[string]> = { ...keyAttributes(item, table, index) };
  for (const name of index.projects) {
    const value = attribute(item, name);
    if (value) row[name] = value;
  }
  const bytes = Object.entries(row).reduce((sum, entry) => sum + attributeSize(...entry), 0);
  return { key, size: bytes, text: JSON.stringify(row) };
};

const sameKey = (a: Key, b: Key): boolean => a.partition.equals(b.partition) && a.sort.equals(b.sort);

/**
 * Brings an index in line with a changed item.
 *
 * @returns the units that it takes, by "Capacity unit consumption for write operations" of the
 * Developer Guide: none if the row stays as it is, and two rows' units if it moves
 */
const writeIndex = (
  table: StoredTable,
  at: number,
  index: Index,
  key: Key,
  before: Stored | undefined,
  after: Stored | undefined,
): number => {
  const old = before && toIndexRow(table.definition, index, before);
  const row = after && toIndexRow(table.definition, index, after);
  if (!old && !row) return 0;
  if (old && row && sameKey(old.key, row.key)) {
    if (old.text === row.text) return 0;
    table.putIndexRow(at, row.key, key, row);
    return writeUnits(Math.max(old.size, row.size));
  }
  if (old) table.removeIndexRow(at, old.key, key);
  if (row) table.putIndexRow(at, row.key, key, row);
  return (old ? writeUnits(old.size) : 0) + (row ? writeUnits(row.size) : 0);
};

/** Who removed an item that has expired, as a stream has it. */
const expirer = { type: 'Service', principalId: 'dynamodb.amazonaws.com' };

const addToStream = (
  database: Database,
  table: StoredTable,
  before: Stored | undefined,
  after: Stored | undefined,
  expires: boolean,
): void => {
  const { definition } = table;
  const { stream } = definition;
  const some = after ?? before;
  if (!stream || !some) return;
  if (before && after && before.size === after.size && sameItem(before.item, after.item)) return;
  const hasOld = before && ['OLD_IMAGE', 'NEW_AND_OLD_IMAGES'].includes(stream.view);
  const hasNew = after && ['NEW_IMAGE', 'NEW_AND_OLD_IMAGES'].includes(stream.view);
  const at = Date.now() / 1000;
  const keys = keyAttributes(some.item, definition);
  const bytes = itemSize(keys) + (hasNew ? (after?.size ?? 0) : 0) + (hasOld ? (before?.size ?? 0) : 0);
  const fields = [
    `"ApproximateCreationDateTime":${Math.floor(at)}`,
    `"Keys":${JSON.stringify(keys)}`,
    ...(hasNew ? [`"NewImage":${after?.text}`] : []),
    ...(hasOld ? [`"OldImage":${before?.text}`] : []),
    `"SizeBytes":${bytes}`,
    `"StreamViewType":"${stream.view}"`,
  ];
  const name = before ? (after ? 'MODIFY' : 'REMOVE') : 'INSERT';
  const identity = expires ? `,"userIdentity":${JSON.stringify(expirer)}` : '';
  database.addChange(table, at, `"eventName":"${name}"${identity},"dynamodb":{${fields.join(',')}`);
};

/** When an item expires, in seconds since 1970; null if it does not. */
const getExpiry = ({ expiry }: TableDefinition, item: Item): number | null => {
  const value = expiry === undefined ? undefined : attribute(item, expiry);
  return value && 'N' in value ? Number(value.N) : null;
};

/** What is to be done to an item. */
export interface Write {
  readonly table: StoredTable;
  readonly key: Key;
  readonly condition?: Condition | undefined;
  /** Whether the error of a failed condition is to have the item as it is. */
  readonly returnsOld?: boolean;
  /**
   * The item since, given the item before; undefined if it is to be gone. Absent if it stays as it
   * is.
   */
  readonly change?: (before: Item | undefined) => SizedItem | undefined;
  /** The message for an item that becomes too large. */
  readonly tooLarge?: string;
  /** Whether the item is removed because it has expired. */
  readonly expires?: boolean;
}

/** A write whose condition holds. */
export interface Prepared {
  readonly write: Write;
  /** The item as it is; undefined if there is none. */
  readonly before: Stored | undefined;
  /** The item as it is to be; undefined if it is to be gone. */
  readonly after: Stored | undefined;
}

/**
 * Checks a write against the item as it is. It changes nothing.
 *
 * @throws StoreError if its condition does not hold, or the item would break a rule
 */
export const prepare = (write: Write): Prepared => {
  const { table, key, condition, change, returnsOld } = write;
  const row = table.get(key);
  const before = row && toStored(row);
  if (condition && !holds(condition, before?.item ?? {}))
    throw conditionFailed(returnsOld && before ? { Item: before.item } : {});
  const since = change ? change(before?.item) : before;
  if (!since) return { write, before, after: undefined };
  if (since.size > maxItemBytes)
    throw invalid(write.tooLarge ?? 'Item size has exceeded the maximum allowed size');
  for (const index of table.definition.indexes) getIndexKey(index, since.item);
  return { write, before, after: { ...since, text: JSON.stringify(since.item) } };
};

/** Does a write that was prepared. */
export const perform = (database: Database, { write, before, after }: Prepared): Units => {
  const { table, key, change, expires = false } = write;
  const { definition } = table;
  const units = writeUnits(Math.max(before?.size ?? 0, after?.size ?? 0));
  const indexes = new Map<string, number>();
  if (!change) return { table: units, indexes };
  database.begin();
  if (after) table.put(key, after, getExpiry(definition, after.item));
  else if (before) table.remove(key);
  for (const [at, index] of definition.indexes.entries()) {
    const taken = writeIndex(table, at, index, key, before, after);
    if (taken > 0) indexes.set(index.name, taken);
  }
  addToStream(database, table, before, after, expires);
  return { table: units, indexes };
};

/** The sum of what several writes take, times a factor. */
export const sumOfUnits = (all: readonly Units[], factor = 1): Units => {
  const indexes = new Map<string, number>();
  let table = 0;
  for (const units of all) {
    table += units.table * factor;
    for (const [name, taken] of units.indexes) indexes.set(name, (indexes.get(name) ?? 0) + taken * factor);
  }
  return { table, indexes };
};
