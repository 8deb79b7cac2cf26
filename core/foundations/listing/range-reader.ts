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
  /** Rows to ask each range for at first, by the range's place in the list if they differ. */
  readonly firstPage: number | readonly number[];
  /** How many times as many rows each page asks for as the last. @default 4 */
  readonly growth?: number;
  /** From this many rows on, a page has no limit of its own: storage ends it at 1 MB. */
  readonly maxPage?: number;
  /**
   * Whether the next page is fetched while one is used, from the second page on. For readers who
   * will want every row.
   */
  readonly ahead?: boolean;
  /**
   * About how many rows are still wanted of all ranges, after those that were taken. No page asks
   * for many more than its range's share. @default - nobody knows
   */
  readonly wanted?: () => number;
}

const defaultGrowth = 4;
/**
 * Rows asked for beyond a range's share, since a run of ties ends with the row behind it. They
 * double with each page, so that a wrong guess costs few pages.
 */
const firstSpare = 4;
/** Some 2,000 rows of an index make 1 MB. */
const defaultMaxPage = 2000;

/** Reads one range page by page, and holds one page at a time (with `ahead`, two). */
export class RangeReader<T extends object, C> {
  readonly #read: ReadPage<T, C>;
  readonly #ahead: boolean;
  readonly #maxPage: number;
  readonly #growth: number;
  #limit: number;
  #spare = firstSpare;
  #taken = 0;
  /** Where the next page starts; undefined before the first page. */
  #start: C | undefined;
  #finished = false;
  #coming: Promise<RowPage<T, C>> | undefined;
  #rows: readonly T[] = [];
  #at = 0;

  /** @param index the range's place in the list */
  constructor(read: ReadPage<T, C>, paging: Omit<Paging, 'wanted'>, index: number) {
    const { firstPage, growth = defaultGrowth, maxPage = defaultMaxPage, ahead = false } = paging;
    this.#read = read;
    this.#limit = typeof firstPage === 'number' ? firstPage : (firstPage[index] ?? maxPage);
    this.#growth = growth;
    this.#maxPage = maxPage;
    this.#ahead = ahead;
  }

  /** How many rows were taken. */
  get taken(): number {
    return this.#taken + this.#at;
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

  /**
   * Reads on until there is a head, or none will come.
   *
   * @param share rows that are wanted of it, about; infinity if nobody knows
   */
  async fill(share: number): Promise<void> {
    while (this.head === undefined && !this.#finished) {
      const { rows, next } = await (this.#coming ?? this.#fetch(share));
      this.#coming = undefined;
      const isFirst = this.#start === undefined;
      this.#taken += this.#rows.length;
      this.#rows = rows;
      this.#at = 0;
      this.#start = next;
      this.#finished = next === undefined;
      if (this.#ahead && !isFirst && !this.#finished) this.#coming = this.#fetch(share);
    }
  }

  #fetch(share: number): Promise<RowPage<T, C>> {
    const rows = this.#start === undefined ? this.#limit : Math.min(this.#limit, share + this.#spare);
    const limit = rows < this.#maxPage ? rows : undefined;
    this.#limit *= this.#growth;
    if (this.#start !== undefined) this.#spare *= 2;
    const page = this.#read(limit, this.#start);
    // Whoever awaits the page sees its failure. Until then it must not count as unhandled.
    page.catch(() => {});
    return page;
  }
}
