/** One page of a range, and the cursor of the next one if there is one. */
export interface RowPage<T, C> {
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
  /** Rows to ask each range for at first; each page asks for four times as many as the last. */
  readonly firstPage: number;
  /** From this many rows on, a page has no limit of its own: storage ends it at 1 MB. */
  readonly maxPage?: number;
  /**
   * Whether the next page is fetched while one is used, from the second page on. For readers who
   * will want every row.
   */
  readonly ahead?: boolean;
}

const growth = 4;
/** Some 2,000 rows of an index make 1 MB. */
const defaultMaxPage = 2000;

/** Reads one range page by page, and holds one page at a time (with `ahead`, two). */
export class RangeReader<T extends object, C> {
  readonly #read: ReadPage<T, C>;
  readonly #ahead: boolean;
  readonly #maxPage: number;
  #limit: number;
  /** Where the next page starts; undefined before the first page. */
  #start: C | undefined;
  #finished = false;
  #coming: Promise<RowPage<T, C>> | undefined;
  #rows: readonly T[] = [];
  #at = 0;

  constructor(read: ReadPage<T, C>, { firstPage, maxPage = defaultMaxPage, ahead = false }: Paging) {
    this.#read = read;
    this.#limit = firstPage;
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
    this.#limit *= growth;
    const page = this.#read(limit, this.#start);
    // Whoever awaits the page sees its failure. Until then it must not count as unhandled.
    page.catch(() => {});
    return page;
  }
}
