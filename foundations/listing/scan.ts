import {
  type Cursor,
  type KeyRange,
  mapConcurrent,
  queryWirePage,
  type RequestBudget,
  type Table,
  type WireItem,
} from '../storage/index.ts';

/** How key ranges of a table are scanned. */
interface ScanOptions<T, R extends KeyRange = KeyRange> extends Merging<T> {
  /** Reads a row from its item, which is as it is on the wire. */
  readonly toRow: (item: WireItem) => T;
  /** Strongly consistent; not on indexes. */
  readonly consistent?: boolean;
  /** The attributes of a range's rows to read. @default - all */
  readonly getAttributes?: (range: R) => readonly string[];
}

/**
 * Scans key ranges side by side and merges their rows. Ending the iteration ends the scan.
 *
 * @returns the rows in batches, none of them empty
 * @throws whatever `toRow` throws
 */
export const scan = <T extends object, R extends KeyRange = KeyRange>(
  table: Table,
  ranges: readonly R[],
  { toRow, consistent, getAttributes, ...merging }: ScanOptions<T, R>,
  budget: RequestBudget,
): AsyncGenerator<readonly T[]> => {
  const { descending } = merging;
  const reads = ranges.map((range) => async (limit: number | undefined, start: Cursor | undefined) => {
    const options = {
      descending,
      limit,
      start,
      ...(consistent && { consistent }),
      ...(getAttributes && { attributes: getAttributes(range) }),
    };
    const { items, next } = await queryWirePage(table, range, budget, options);
    return { rows: items.map(toRow), next };
  });
  return mergeRanges(reads, merging);
};

/** How ranges are merged. */
interface Merging<T> extends Paging {
  /** The ascending order in which each range holds its rows. */
  readonly compare: (a: T, b: T) => number;
  /** Whether ranges are read from their last row on. */
  readonly descending: boolean;
}

/** How many ranges are read at once. */
const concurrency = 16;

interface Source<T extends object, C> {
  readonly reader: RangeReader<T, C>;
  /** The range's place in the list. */
  readonly index: number;
}

/**
 * Reads ranges side by side and merges their rows. Rows that compare as equal come in the order of
 * their ranges. A batch is as long as what has been read allows, so the first rows leave as soon as
 * they are known.
 *
 * @param reads one for each range
 * @throws whatever `reads` throw
 */
export async function* mergeRanges<T extends object, C>(
  reads: readonly ReadPage<T, C>[],
  { compare, descending, ...paging }: Merging<T>,
): AsyncGenerator<readonly T[]> {
  const sign = descending ? -1 : 1;
  const heap = new Heap<Source<T, C>>((a, b) => {
    const x = a.reader.head;
    const y = b.reader.head;
    return (x && y ? sign * compare(x, y) : 0) || a.index - b.index;
  });
  let waiting = reads.map((read, index) => ({ reader: new RangeReader(read, paging, index), index }));
  for (;;) {
    await mapConcurrent(waiting, concurrency, ({ reader }) => reader.fill());
    for (const source of waiting) if (source.reader.head !== undefined) heap.push(source);
    if (heap.size === 0) return;
    const { rows, usedUp } = takeRows(heap);
    yield rows;
    waiting = usedUp;
  }
}

/** Takes rows in order until the next row of one source is not known. */
const takeRows = <T extends object, C>(
  heap: Heap<Source<T, C>>,
): { readonly rows: readonly T[]; readonly usedUp: Source<T, C>[] } => {
  const rows: T[] = [];
  for (let source = heap.first; source; source = heap.first) {
    const { reader } = source;
    if (heap.size === 1) {
      heap.pop();
      return {
        rows: rows.length === 0 ? reader.takePage() : rows.concat(reader.takePage()),
        usedUp: [source],
      };
    }
    if (reader.head !== undefined) rows.push(reader.head);
    reader.advance();
    if (reader.head === undefined) {
      heap.pop();
      return { rows, usedUp: [source] };
    }
    heap.update();
  }
  return { rows, usedUp: [] };
};

/** One page of a range, and the cursor of the next one if there is one. */
interface RowPage<T, C> {
  readonly rows: readonly T[];
  readonly next: C | undefined;
}

/**
 * Reads one page of a range.
 *
 * @param limit the most rows to read; undefined for as many as storage gives at a time
 * @param start the cursor of the page; undefined for the first page
 */
export type ReadPage<T, C> = (limit: number | undefined, start: C | undefined) => Promise<RowPage<T, C>>;

/** How ranges are paged through. */
export interface Paging {
  /**
   * Rows to ask each range for at first, by the range's place in the list if they differ; null for as
   * many as storage gives at a time.
   */
  readonly firstPage: number | null | readonly number[];
  /** How many times as many rows each page asks for as the last. @default 4 */
  readonly growth?: number;
  /** From this many rows on, a page has no limit of its own: storage ends it at 1 MB. */
  readonly maxPage?: number;
  /**
   * Whether the next page is fetched while one is used, from the second page on. For readers who
   * will want every row.
   */
  readonly ahead?: boolean;
}

const defaultGrowth = 4;
/** Some 2,000 rows of an index make 1 MB. */
const defaultMaxPage = 2000;

/** Reads one range page by page, and holds one page at a time (with `ahead`, two). */
class RangeReader<T extends object, C> {
  readonly #read: ReadPage<T, C>;
  readonly #ahead: boolean;
  readonly #maxPage: number;
  readonly #growth: number;
  #limit: number;
  /** Where the next page starts; undefined before the first page. */
  #start: C | undefined;
  #finished = false;
  #coming: Promise<RowPage<T, C>> | undefined;
  #rows: readonly T[] = [];
  #at = 0;

  /** @param index the range's place in the list */
  constructor(read: ReadPage<T, C>, paging: Paging, index: number) {
    const { firstPage, growth = defaultGrowth, maxPage = defaultMaxPage, ahead = false } = paging;
    this.#read = read;
    this.#limit = Array.isArray(firstPage) ? (firstPage[index] ?? maxPage) : (firstPage ?? maxPage);
    this.#growth = growth;
    this.#maxPage = maxPage;
    this.#ahead = ahead;
  }

  /** The next row of the page; undefined when the page is used up. */
  get head(): T | undefined {
    return this.#rows[this.#at];
  }

  /** Goes on to the next row. */
  advance(): void {
    this.#at++;
  }

  /** Takes all rows that are left of the page. */
  takePage(): readonly T[] {
    const rows = this.#at === 0 ? this.#rows : this.#rows.slice(this.#at);
    this.#at = this.#rows.length;
    return rows;
  }

  /** Reads on until there is a head, or none will come. */
  async fill(): Promise<void> {
    while (this.head === undefined && !this.#finished) {
      const { rows, next } = await (this.#coming ?? this.#fetch());
      this.#coming = undefined;
      const isFirst = this.#start === undefined;
      this.#rows = rows;
      this.#at = 0;
      this.#start = next;
      this.#finished = next === undefined;
      if (this.#ahead && !isFirst && !this.#finished) this.#coming = this.#fetch();
    }
  }

  #fetch(): Promise<RowPage<T, C>> {
    const limit = this.#limit < this.#maxPage ? this.#limit : undefined;
    this.#limit = Math.ceil(this.#limit * this.#growth);
    const page = this.#read(limit, this.#start);
    // Whoever awaits the page sees its failure. Until then it must not count as unhandled.
    page.catch(() => {});
    return page;
  }
}

/** A binary heap. It finds the first of its items in constant time and moves one in O(log n). */
export class Heap<T extends object> {
  readonly #compare: (a: T, b: T) => number;
  readonly #items: T[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The first item; of several that compare as equal, any. Undefined when the heap is empty. */
  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent];
      if (above === undefined || this.#compare(above, item) <= 0) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  /** Takes the first item out. */
  pop(): T | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.#sink(last);
    return first;
  }

  /** Puts the first item in its new place after it has changed. */
  update(): void {
    const [first] = this.#items;
    if (first !== undefined) this.#sink(first);
  }

  /** Moves an item from the top down to its place. */
  #sink(item: T): void {
    const items = this.#items;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const child = this.#earlier(left, left + 1);
      const below = child < items.length ? items[child] : undefined;
      if (below === undefined || this.#compare(item, below) <= 0) {
        items[at] = item;
        return;
      }
      items[at] = below;
      at = child;
    }
  }

  /** The index of the earlier of two siblings. */
  #earlier(left: number, right: number): number {
    if (right >= this.#items.length) return left;
    const a = this.#items[left];
    const b = this.#items[right];
    return a !== undefined && b !== undefined && this.#compare(b, a) < 0 ? right : left;
  }
}
