import type { TableSpec } from 'cdk-local-runner/template';
import { type Item, itemBytes, type Store, scanTable } from '../../foundations/storage/index.ts';

/*
 * DynamoDB's rules for rows of indexes and what they cost. They are from its Developer Guide:
 * "Capacity unit consumption for write operations" and "Storage considerations for global secondary
 * indexes".
 */

/** The bytes that DynamoDB adds to each item and index row when it bills storage. */
export const billedOverhead = 100;

/** An index: its keys, and the attributes of its rows including the table's keys. */
interface IndexSchema {
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

const getNames = (keys: readonly { readonly AttributeName: string }[]): string[] =>
  keys.map(({ AttributeName }) => AttributeName);

/** The schema of a table from the template. */
export const tableSchema = ({ properties }: Pick<TableSpec, 'properties'>): TableSchema => {
  const keys = getNames(properties.KeySchema);
  const indexes = properties.GlobalSecondaryIndexes ?? [];
  return {
    keys,
    indexes: indexes.map(({ IndexName, KeySchema, Projection }) => ({
      name: IndexName,
      keys: getNames(KeySchema),
      projected:
        Projection.ProjectionType === 'ALL'
          ? undefined
          : [...new Set([...keys, ...getNames(KeySchema), ...(Projection.NonKeyAttributes ?? [])])],
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

/** The content of a store of calls, in bytes by DynamoDB's rules. */
interface StoredBytes {
  /** Items of starts and ends: keys, headers and inline payloads. */
  readonly items: number;
  /** Items with payload segments. */
  readonly segments: number;
  /** Rows of all indexes. */
  readonly indexes: number;
  /** The number of items and index rows. */
  readonly rows: number;
  /** The write units of putting the segments. */
  readonly segmentUnits: number;
  /** All bytes, with those that DynamoDB adds to each item and row when it bills storage. */
  readonly billed: number;
}

/** Adds up a store's table. Nothing may lie in the bucket. */
export const storedBytes = async ({ table }: Store, schema: TableSchema): Promise<StoredBytes> => {
  let items = 0;
  let segments = 0;
  let indexes = 0;
  let rows = 0;
  let segmentUnits = 0;
  for await (const page of scanTable(table)) {
    for (const item of page) {
      const { [baseTable]: own = 0, ...others } = rowBytes(item, schema);
      const isSegment = item.p === 'P' || item.p === 'V';
      if (isSegment) segmentUnits += writeUnits(own);
      segments += isSegment ? own : 0;
      items += isSegment ? 0 : own;
      rows += 1 + Object.keys(others).length;
      for (const bytes of Object.values(others)) indexes += bytes;
    }
  }
  const billed = items + segments + indexes + rows * billedOverhead;
  return { items, segments, indexes, rows, segmentUnits, billed };
};
