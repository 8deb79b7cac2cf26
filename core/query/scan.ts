import { fromItem, type StoredPart, sortKeyOf } from '../calls/index.ts';
import {
  type Item,
  type KeyRange,
  mapConcurrent,
  queryPage,
  type RequestBudget,
  type Store,
} from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';

/** One row of an index: a start or an end. */
export interface Row {
  /** What rows are merged by: the time-ordered part of the sort key, or all of it. */
  readonly key: Uint8Array;
  readonly part: StoredPart;
}

/** How key ranges are to be scanned. */
export interface ScanOptions {
  readonly descending: boolean;
  /** Rows wanted of each range's first page; later pages grow from there. */
  readonly firstPage: number;
  /**
   * Whether, from the second page on, the next is fetched while one is being used: for scans that
   * will want it.
   */
  readonly ahead: boolean;
  /** Whether rows of `by_thread` are merged thread by thread, and by time only within a thread. */
  readonly byThread?: boolean;
}

const growth = 4;
/** From this many rows on a page is as long as DynamoDB makes it: 1 MB. */
const maxPage = 2000;
/** How many ranges' first pages are fetched at once. */
const concurrency = 16;

/** Reads one key range page by page. */
class RangeReader {
  readonly #read: (
    limit: number | undefined,
    start: Item | undefined,
  ) => Promise<{ rows: Row[]; next: Item | undefined }>;
  readonly #ahead: boolean;
  #limit: number;
  /** Where the next page starts; undefined before the first. */
  #start: Item | undefined;
  #finished = false;
  #coming: ReturnType<RangeReader['fetch']> | undefined;
  #rows: Row[] = [];
  #at = 0;

  constructor(
    store: Store,
    projectId: ProjectId,
    range: KeyRange,
    options: ScanOptions,
    budget: RequestBudget,
  ) {
    this.#ahead = options.ahead;
    this.#limit = options.firstPage;
    this.#read = async (limit, start) => {
      const page = await queryPage(store.table, range, budget, {
        descending: options.descending,
        limit,
        start,
      });
      return { rows: page.items.map((item) => toRow(store, projectId, item, options)), next: page.next };
    };
  }

  private fetch() {
    const limit = this.#limit < maxPage ? this.#limit : undefined;
    this.#limit *= growth;
    const page = this.#read(limit, this.#start);
    // Whoever awaits the page sees its failure; until then it must not count as unhandled.
    page.catch(() => {});
    return page;
  }

  /** The next row, as far as it has been read. */
  get head(): Row | undefined {
    return this.#rows[this.#at];
  }

  /** Goes on to the next row. */
  advance(): void {
    this.#at++;
  }

  /** Makes sure that there is a head, unless the range is at its end. */
  async fill(): Promise<void> {
    while (this.head === undefined && !this.#finished) {
      const { rows, next } = await (this.#coming ?? this.fetch());
      this.#coming = undefined;
      const isFirst = this.#start === undefined;
      this.#rows = rows;
      this.#at = 0;
      this.#start = next;
      this.#finished = next === undefined;
      if (this.#ahead && !isFirst && !this.#finished) this.#coming = this.fetch();
    }
  }
}

const toRow = (
  store: Store,
  projectId: ProjectId,
  item: Item,
  { byThread }: Pick<ScanOptions, 'byThread'>,
): Row => ({
  key: (byThread ? item.hs?.B : undefined) ?? sortKeyOf({ ts: item.ts?.B, hs: item.hs?.B }),
  part: fromItem(store, projectId, item),
});

/**
 * Scans key ranges side by side and merges their rows in the order of their keys. Rows come in
 * batches, each as long as what has been read allows, so that the first come as soon as they are
 * known.
 *
 * @throws ServiceError 503 when storage does not give a page in time
 */
export async function* scan(
  store: Store,
  projectId: ProjectId,
  ranges: readonly KeyRange[],
  options: ScanOptions,
  budget: RequestBudget,
): AsyncGenerator<Row[]> {
  let readers = ranges.map((range) => new RangeReader(store, projectId, range, options, budget));
  while (readers.length > 0) {
    await mapConcurrent(readers, concurrency, (reader) => reader.fill());
    readers = readers.filter((reader) => reader.head !== undefined);
    if (readers.length > 0) yield merge(readers, options.descending);
  }
}

/** Takes rows in order for as long as every reader can say which its next one is. */
const merge = (readers: readonly RangeReader[], descending: boolean): Row[] => {
  const rows: Row[] = [];
  for (;;) {
    let first: RangeReader | undefined;
    for (const reader of readers) {
      if (reader.head === undefined) return rows;
      if (first?.head === undefined || before(reader.head, first.head, descending)) first = reader;
    }
    if (first?.head === undefined) return rows;
    rows.push(first.head);
    first.advance();
  }
};

const before = (a: Row, b: Row, descending: boolean): boolean => {
  const order = Buffer.compare(a.key, b.key);
  return descending ? order > 0 : order < 0;
};
