import { paginateScan } from '@aws-sdk/client-dynamodb';
import type { Store } from '../../core/storage/index.ts';
import { billedOverhead, rowBytes, type TableSchema, tableItself, writeUnits } from './item-size.ts';

/** What a store of calls holds, in bytes by DynamoDB's rules of size. */
export interface StoredBytes {
  /** Items of starts and ends: keys, headers, payloads that ride in them. */
  readonly items: number;
  /** Items that are payload segments. */
  readonly segments: number;
  /** Rows of all indexes. */
  readonly indexes: number;
  /** How many items and index rows there are. */
  readonly rows: number;
  /** The write units that putting the segments took. */
  readonly segmentUnits: number;
  /** All of it with what DynamoDB adds to every item and row when it charges. */
  readonly billed: number;
}

/** Adds up all that a store's table holds. Nothing of it may lie in the bucket. */
export const storedBytes = async ({ table }: Store, schema: TableSchema): Promise<StoredBytes> => {
  let [items, segments, indexes, rows, segmentUnits] = [0, 0, 0, 0, 0];
  for await (const { Items = [] } of paginateScan(table, { TableName: table.name })) {
    for (const item of Items) {
      const { [tableItself]: own = 0, ...others } = rowBytes(item, schema);
      const isSegment = item.p?.S === 'P';
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
