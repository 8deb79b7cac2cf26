import {
  type Item,
  type KeyRange,
  mapConcurrent,
  queryPage,
  type RequestBudget,
  type Table,
} from '../storage/index.ts';

/** How key ranges are to be scanned. */
export interface ScanOptions {
  readonly descending: boolean;
  /** Rows wanted of each range's first page; later pages grow from there. */
  readonly firstPage: number;
}

const growth = 4;
/** From this many rows on a page is as long as DynamoDB makes it: 1 MB. */
const maxPage = 2000;
/** How many ranges' pages are fetched at once. */
const concurrency = 16;

/** Reads one key range page by page. */
class RangeReader {
  readonly #read: (limit: number | undefined, start: Item | undefined) => ReturnType<typeof queryPage>;
  #limit: number;
  #start: Item | undefined;
  #finished = false;
  #rows: Item[] = [];
  #at = 0;

  constructor(table: Table, range: KeyRange, { descending, firstPage }: ScanOptions, budget: RequestBudget) {
    this.#limit = firstPage;
    this.#read = (limit, start) => queryPage(table, range, budget, { descending, limit, start });
  }

  /** The next row, as far as it has been read. */
  get head(): Item | undefined {
    return this.#rows[this.#at];
  }

  /** Goes on to the next row. */
  advance(): void {
    this.#at++;
  }

  /** Makes sure that there is a head, unless the range is at its end. */
  async fill(): Promise<void> {
    while (this.head === undefined && !this.#finished) {
      const { items, next } = await this.#read(this.#limit < maxPage ? this.#limit : undefined, this.#start);
      this.#limit *= growth;
      this.#rows = items;
      this.#at = 0;
      this.#start = next;
      this.#finished = next === undefined;
    }
  }
}

/**
 * Scans key ranges of the feedback table's indexes side by side and merges their rows in order of
 * time. Rows come in batches, each as long as what has been read allows, so that the first come as
 * soon as they are known.
 *
 * @throws ServiceError 503 when storage does not give a page in time
 */
export async function* scan(
  table: Table,
  ranges: readonly KeyRange[],
  options: ScanOptions,
  budget: RequestBudget,
): AsyncGenerator<Item[]> {
  let readers = ranges.map((range) => new RangeReader(table, range, options, budget));
  while (readers.length > 0) {
    await mapConcurrent(readers, concurrency, (reader) => reader.fill());
    readers = readers.filter((reader) => reader.head !== undefined);
    if (readers.length > 0) yield merge(readers, options.descending);
  }
}

/** Takes rows in order for as long as every reader can say which its next one is. */
const merge = (readers: readonly RangeReader[], descending: boolean): Item[] => {
  const rows: Item[] = [];
  for (;;) {
    let first: RangeReader | undefined;
    for (const reader of readers) {
      if (reader.head === undefined) return rows;
      if (first?.head === undefined || isBefore(reader.head, first.head, descending)) first = reader;
    }
    if (first?.head === undefined) return rows;
    rows.push(first.head);
    first.advance();
  }
};

const none = new Uint8Array();

const isBefore = (a: Item, b: Item, descending: boolean): boolean => {
  const order = Buffer.compare(a.t?.B ?? none, b.t?.B ?? none);
  return descending ? order > 0 : order < 0;
};
