import type { Item } from './item.ts';
import type { RequestBudget } from './request-budget.ts';
import type { Table } from './table.ts';
import { type KeyRange, queryPage } from './table-reads.ts';

/** How one key range is read. */
export interface RangeOptions<T> {
  /** Reads a row from its item. */
  readonly toRow: (item: Item) => T;
  /** Strongly consistent; not on indexes. @default false */
  readonly consistent?: boolean;
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
  { toRow, consistent = false }: RangeOptions<T>,
  budget: RequestBudget,
): AsyncGenerator<readonly T[]> {
  let start: Item | undefined;
  do {
    const { items, next } = await queryPage(table, range, budget, { consistent, start });
    if (items.length > 0) yield items.map(toRow);
    start = next;
  } while (start);
}
