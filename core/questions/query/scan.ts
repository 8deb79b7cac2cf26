import { type Paging, scan } from '../../foundations/listing/index.ts';
import { asBytes, type Item, type RequestBudget, type Store } from '../../foundations/storage/index.ts';
import type { AnyIndexRange, IndexName, RowAttribute } from '../../foundations/storage/tables.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { fromItem, type StoredPart, sortKeyOf } from '../../records/calls/index.ts';

/** One row of an index: a start or an end. */
export interface PartRow {
  /** What rows are merged by: the time-ordered end of the sort key, or all of it. */
  readonly key: Uint8Array;
  readonly part: StoredPart;
}

/**
 * A row whose header is decoded when it is asked for. Pages wait to be merged, and packed headers
 * are a fraction of what is made of them.
 */
class UnreadRow implements PartRow {
  readonly key: Uint8Array;
  readonly #store: Store;
  readonly #projectId: ProjectId;
  readonly #item: Item;

  constructor(key: Uint8Array, store: Store, projectId: ProjectId, item: Item) {
    this.key = key;
    this.#store = store;
    this.#projectId = projectId;
    this.#item = item;
  }

  get part(): StoredPart {
    return fromItem(this.#store, this.#projectId, this.#item);
  }
}

/** How key ranges of an index of calls are scanned. */
export interface PartScan extends Paging {
  readonly descending: boolean;
  /** Whether rows of `by_thread` are merged thread by thread, and by time only within a thread. */
  readonly byThread?: boolean;
}

/** What is read of rows: the partition key that was asked for would be a fifth of the answers. */
const attributes: { readonly [I in IndexName<'calls'>]: readonly RowAttribute<'calls', I>[] } = {
  by_time: ['k', 'p', 'ts', 'h', 'c'],
  by_trace: ['k', 'p', 'ts', 'h'],
  by_thread: ['k', 'p', 'hs', 'h'],
  by_error: ['k', 'p', 'ts', 'h', 'c'],
};

const attributesOf = ({ index }: AnyIndexRange<'calls'>) => attributes[index];

const compareKeys = (a: PartRow, b: PartRow): number => Buffer.compare(a.key, b.key);

/**
 * Scans key ranges of an index side by side and merges their starts and ends.
 *
 * @throws ServiceError 503 when storage does not give a page in time
 */
export const scanParts = (
  store: Store,
  projectId: ProjectId,
  ranges: readonly AnyIndexRange<'calls'>[],
  { byThread = false, ...paging }: PartScan,
  budget: RequestBudget,
): AsyncGenerator<readonly PartRow[]> => {
  const toRow = (item: Item): PartRow => {
    const whole = byThread ? asBytes(item.hs) : undefined;
    const key = whole ?? sortKeyOf({ ts: asBytes(item.ts), hs: asBytes(item.hs) });
    return new UnreadRow(key, store, projectId, item);
  };
  return scan(store.table, ranges, { ...paging, toRow, attributesOf, compare: compareKeys }, budget);
};
