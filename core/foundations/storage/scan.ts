import { paginateScan, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import { documents } from './documents.ts';
import type { Item } from './item.ts';
import type { Table } from './table.ts';

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
