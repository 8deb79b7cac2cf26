import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Item } from '../../core/storage/index.ts';
import type { TableSpec } from '../../local/template/stores.ts';

/*
 * DynamoDB's rules for the size of items, from its Developer Guide: "DynamoDB item sizes and
 * formats", "Capacity unit consumption for write operations" and "Storage considerations for global
 * secondary indexes".
 */

/** What DynamoDB adds to every item and index row when it charges for storage, in bytes. */
export const billedOverhead = 100;

/** A number takes a byte for two significant digits, one more, and one for a sign. */
const numberBytes = (text: string): number => {
  const digits = text.replace(/^-/, '').replace(/e.*$/i, '').replace('.', '').replace(/^0+/, '');
  const significant = text.includes('.') ? digits : digits.replace(/0+$/, '');
  return Math.ceil(significant.length / 2) + 1 + (text.startsWith('-') ? 1 : 0);
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The bytes of an attribute's value. */
const valueBytes = (value: AttributeValue): number => {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.B !== undefined) return value.B.byteLength;
  if (value.L !== undefined) return 3 + sum(value.L.map((element) => 1 + valueBytes(element)));
  if (value.M !== undefined)
    return 3 + sum(Object.entries(value.M).map((entry) => 1 + attributeBytes(...entry)));
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  throw new Error(`no rule for the size of ${Object.keys(value)}`);
};

const attributeBytes = (name: string, value: AttributeValue): number =>
  Buffer.byteLength(name) + valueBytes(value);

/** An item's size in bytes: its attributes' names and values. */
export const itemBytes = (item: Item): number =>
  sum(Object.entries(item).map((entry) => attributeBytes(...entry)));

/** An index: its keys, and what its rows hold of an item, the table's keys included. */
export interface IndexSchema {
  readonly name: string;
  readonly keys: readonly string[];
  /** Undefined for all attributes. */
  readonly holds: readonly string[] | undefined;
}

/** What the size of a table's rows depends on. */
export interface TableSchema {
  readonly keys: readonly string[];
  readonly indexes: readonly IndexSchema[];
}

const namesOf = (keys: readonly { readonly AttributeName: string }[]): string[] =>
  keys.map(({ AttributeName }) => AttributeName);

/** The schema of a table as the template has it. */
export const tableSchema = ({ properties }: Pick<TableSpec, 'properties'>): TableSchema => {
  const keys = namesOf(properties.KeySchema);
  const indexes = properties.GlobalSecondaryIndexes ?? [];
  return {
    keys,
    indexes: indexes.map(({ IndexName, KeySchema, Projection }) => ({
      name: IndexName,
      keys: namesOf(KeySchema),
      holds:
        Projection.ProjectionType === 'ALL'
          ? undefined
          : [...new Set([...keys, ...namesOf(KeySchema), ...(Projection.NonKeyAttributes ?? [])])],
    })),
  };
};

/** The name under which the table's own figures stand beside those of its indexes. */
export const tableItself = 'table';

/**
 * The bytes of an item and of its row in each index that it is in, by `table` and the names of the
 * indexes.
 */
export const rowBytes = (item: Item, { indexes }: TableSchema): Record<string, number> => {
  const rows: Record<string, number> = { [tableItself]: itemBytes(item) };
  for (const { name, keys, holds } of indexes) {
    if (!keys.every((key) => item[key])) continue;
    const row = Object.entries(item).filter(([attribute]) => holds?.includes(attribute) ?? true);
    rows[name] = itemBytes(Object.fromEntries(row));
  }
  return rows;
};

const bytesOfWriteUnit = 1024;

/** The write units for so many bytes of one item or index row. */
export const writeUnits = (bytes: number): number => Math.ceil(bytes / bytesOfWriteUnit);

/** The write units of putting an item where none is, by `table` and the names of the indexes. */
export const putUnits = (item: Item, schema: TableSchema): Record<string, number> =>
  Object.fromEntries(
    Object.entries(rowBytes(item, schema)).map(([name, bytes]) => [name, writeUnits(bytes)]),
  );
