import { fromItem, type StoredPart, sortKeyOf } from '../calls/index.ts';
import { type Paging, scan } from '../listing/index.ts';
import { asBytes, type Item, type KeyRange, type RequestBudget, type Store } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';

/** One row of an index: a start or an end. */
export interface PartRow {
  /** What rows are merged by: the time-ordered end of the sort key, or all of it. */
  readonly key: Uint8Array;
  readonly part: StoredPart;
}

/** How key ranges of an index of calls are scanned. */
export interface PartScan extends Paging {
  readonly descending: boolean;
  /** Whether rows of `by_thread` are merged thread by thread, and by time only within a thread. */
  readonly byThread?: boolean;
}

const compareKeys = (a: PartRow, b: PartRow): number => Buffer.compare(a.key, b.key);

/**
 * Scans key ranges of an index side by side and merges their starts and ends.
 *
 * @throws ServiceError 503 when storage does not give a page in time
 */
export const scanParts = (
  store: Store,
  projectId: ProjectId,
  ranges: readonly KeyRange[],
  { byThread = false, ...paging }: PartScan,
  budget: RequestBudget,
): AsyncGenerator<readonly PartRow[]> => {
  const toRow = (item: Item): PartRow => ({
    key:
      (byThread ? asBytes(item.hs) : undefined) ?? sortKeyOf({ ts: asBytes(item.ts), hs: asBytes(item.hs) }),
    part: fromItem(store, projectId, item),
  });
  return scan(store.table, ranges, { ...paging, toRow, compare: compareKeys }, budget);
};
