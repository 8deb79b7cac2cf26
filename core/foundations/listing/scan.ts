import { type Item, type KeyRange, queryPage, type RequestBudget, type Table } from '../storage/index.ts';
import { type Merging, mergeRanges } from './merge.ts';

/** How key ranges of a table are scanned. */
export interface ScanOptions<T, R extends KeyRange = KeyRange> extends Merging<T> {
  /** Reads a row from its item. */
  readonly toRow: (item: Item) => T;
  /** Strongly consistent; not on indexes. */
  readonly consistent?: boolean;
  /** The attributes of a range's rows to read. @default - all */
  readonly attributesOf?: (range: R) => readonly string[];
}

/**
 * Scans key ranges side by side and merges their rows. Ending the iteration ends the scan.
 *
 * @returns the rows in batches, none of them empty
 * @throws ServiceError 503 when storage does not give a page in time; whatever `toRow` throws
 */
export const scan = <T extends object, R extends KeyRange = KeyRange>(
  table: Table,
  ranges: readonly R[],
  { toRow, consistent, attributesOf, ...merging }: ScanOptions<T, R>,
  budget: RequestBudget,
): AsyncGenerator<readonly T[]> => {
  const { descending } = merging;
  const reads = ranges.map((range) => async (limit: number | undefined, start: Item | undefined) => {
    const options = {
      descending,
      limit,
      start,
      ...(consistent && { consistent }),
      ...(attributesOf && { attributes: attributesOf(range) }),
    };
    const { items, next } = await queryPage(table, range, budget, options);
    return { rows: items.map(toRow), next };
  });
  return mergeRanges(reads, merging);
};
