import { type Store, scanTable } from '../../core/foundations/storage/index.ts';
import { baseTable, billedOverhead, rowBytes, type TableSchema, writeUnits } from './item-size.ts';

/** The content of a store of calls, in bytes by DynamoDB's rules. */
export interface StoredBytes {
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
  let [items, segments, indexes, rows, segmentUnits] = [0, 0, 0, 0, 0];
  for await (const page of scanTable(table)) {
    for (const item of page) {
      const { [baseTable]: own = 0, ...others } = rowBytes(item, schema);
      const isSegment = item.p === 'P';
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
