import { asMap, type Item, type Value } from '../../core/storage/index.ts';
import type { TableSpec } from '../../local/template/stores.ts';

/*
 * DynamoDB's rules for item sizes, from its Developer Guide: "DynamoDB item sizes and formats",
 * "Capacity unit consumption for write operations" and "Storage considerations for global secondary
 * indexes".
 */

/** The bytes that DynamoDB adds to each item and index row when it bills storage. */
export const billedOverhead = 100;

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

/** The size of an item in bytes: names and values of its attributes. */
export const itemBytes = (item: Item): number =>
  sum(Object.entries(item).map((entry) => attributeBytes(...entry)));

/** An index: its keys, and the attributes of its rows including the table's keys. */
export interface IndexSchema {
  readonly name: string;
  readonly keys: readonly string[];
  /** Undefined if the index projects all attributes. */
  readonly projected: readonly string[] | undefined;
}

/** What the sizes of a table's rows depend on. */
export interface TableSchema {
  readonly keys: readonly string[];
  readonly indexes: readonly IndexSchema[];
}

const namesOf = (keys: readonly { readonly AttributeName: string }[]): string[] =>
  keys.map(({ AttributeName }) => AttributeName);

/** The schema of a table from the template. */
export const tableSchema = ({ properties }: Pick<TableSpec, 'properties'>): TableSchema => {
  const keys = namesOf(properties.KeySchema);
  const indexes = properties.GlobalSecondaryIndexes ?? [];
  return {
    keys,
    indexes: indexes.map(({ IndexName, KeySchema, Projection }) => ({
      name: IndexName,
      keys: namesOf(KeySchema),
      projected:
        Projection.ProjectionType === 'ALL'
          ? undefined
          : [...new Set([...keys, ...namesOf(KeySchema), ...(Projection.NonKeyAttributes ?? [])])],
    })),
  };
};

/** The key of the table's own figures beside those of its indexes. */
export const baseTable = 'table';

/** The bytes of an item and of its row in each index, by `table` and by index name. */
export const rowBytes = (item: Item, { indexes }: TableSchema): Record<string, number> => {
  const rows: Record<string, number> = { [baseTable]: itemBytes(item) };
  for (const { name, keys, projected } of indexes) {
    if (!keys.every((key) => item[key] !== undefined)) continue;
    const row = Object.entries(item).filter(([attribute]) => projected?.includes(attribute) ?? true);
    rows[name] = itemBytes(Object.fromEntries(row));
  }
  return rows;
};

const bytesOfWriteUnit = 1024;

/** The write units for an item or index row of this size, in bytes. */
export const writeUnits = (bytes: number): number => Math.ceil(bytes / bytesOfWriteUnit);

/** The write units of putting a new item, by `table` and by index name. */
export const putUnits = (item: Item, schema: TableSchema): Record<string, number> =>
  Object.fromEntries(
    Object.entries(rowBytes(item, schema)).map(([name, bytes]) => [name, writeUnits(bytes)]),
  );
