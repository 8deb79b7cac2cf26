import { createStore } from 'zustand';
import { type CallRow, getStatus, parseTime, sumUsage, usageByModel } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { CallsQuery } from '../../api/contract.ts';
import {
  advanced,
  atStart,
  type Cursor,
  maxLiveRows,
  newerThan,
  nextPage,
  pageSize,
  reportedSince,
  rowsAgain,
} from './request.ts';
import { SightBatches } from './sight.ts';
import { type CostTest, chunkSize, getTotals, type RowFigures, readUsage } from './usage.ts';

/** What a list of calls holds at a moment. */
export interface ListState {
  readonly rows: readonly CallRow[];
  /** `reading` while a page is on its way, `stopped` if its reader stopped it. */
  readonly phase: 'reading' | 'idle' | 'stopped' | 'failed';
  /** Whether all rows are there. */
  readonly complete: boolean;
  /** How many rows were read, those included that the filter by cost left out. */
  readonly read: number;
  /** What roots used with all below them, by id, where the list itself asked for it. */
  readonly figures: ReadonlyMap<string, RowFigures>;
  readonly error?: unknown;
}

/** What a list is made of. */
export interface ListOptions {
  readonly client: Client;
  readonly request: CallsQuery;
  /** Whether its rows are roots, which show the figures of their traces. */
  readonly roots: boolean;
  /** The filter by cost. @default - none */
  readonly costTest?: CostTest | undefined;
  /** The text that its rows were found by. @default - none */
  readonly text?: string | undefined;
}

/** A list before its first row. */
const emptyList: ListState = {
  rows: [],
  phase: 'idle',
  complete: false,
  read: 0,
  figures: new Map(),
};

/** In live mode, one look in so many goes back for calls that were reported late. */
const looksPerWide = 4;

/** How many rows a filter by cost looks for before it pauses: more than a screen has. */
const soughtRows = 50;

const left = new DOMException('the reader went elsewhere', 'AbortError');

let count = 0;

const newestFirst = (a: CallRow, b: CallRow): number => {
  if (a.started_at === b.started_at) return 0;
  return a.started_at < b.started_at ? 1 : -1;
};

const ownFigures = (rows: readonly CallRow[]): Map<string, RowFigures> =>
  new Map(rows.map((row) => [row.id, { usage: sumUsage(usageByModel(row).values()) }]));

/**
 * The rows of one request, page by page, as they come. It is kept (`session/kept.ts`), so that whoever
 * comes back to a list finds it as it was.
 */
export class CallList {
  /** Tells lists apart. */
  readonly number = ++count;
  readonly store = createStore<ListState>()(() => emptyList);
  readonly request: CallsQuery;
  /** How far its reader had scrolled, in pixels. */
  scrollTop = 0;
  /** The row that the keyboard is at, by its place; -1 for none. */
  active = -1;
  /** The rows in sight, by their places: the first and the last. */
  inSight: readonly [first: number, last: number] = [0, -1];
  /** What it has asked for: usage of traces, previews of roots without content, places of a text, and tags. */
  readonly lookUps = {
    usage: new SightBatches(),
    previews: new SightBatches(),
    hits: new SightBatches(),
    tags: new SightBatches(),
  };
  readonly options: ListOptions;
  readonly #ids = new Set<string>();
  #cursor: Cursor = atStart;
  #reading: AbortController | undefined;
  #catchingUp = false;
  /** How often the live mode has looked, and when it last went back, in ms since 1970. */
  #looks = 0;
  #wideAt = Date.now();

  constructor(options: ListOptions) {
    this.options = options;
    this.request = options.request;
  }

  /**
   * Reads the next page, unless one is on its way or all is there. With a filter by cost it reads
   * pages until there is something to show.
   */
  readonly more = async (): Promise<void> => {
    if (this.#reading || this.store.getState().complete) return;
    const reading = new AbortController();
    this.#reading = reading;
    this.store.setState({ phase: 'reading', error: undefined });
    const sought = this.store.getState().rows.length + (this.options.costTest ? soughtRows : 1);
    try {
      let complete = false;
      do complete = (await this.#readPage(reading.signal)) < pageSize;
      while (!complete && this.store.getState().rows.length < sought);
      this.store.setState({ phase: 'idle', complete });
    } catch (error) {
      if (reading.signal.aborted)
        this.store.setState({ phase: reading.signal.reason === left ? 'idle' : 'stopped' });
      else this.store.setState({ phase: 'failed', error });
    } finally {
      this.#reading = undefined;
    }
  };

  /** Stops the page that is on its way. What came stays. */
  readonly stop = (): void => this.#reading?.abort();

  /** Stops because its reader went elsewhere: it goes on when they come back. */
  readonly leave = (): void => this.#reading?.abort(left);

  /**
   * Reads what was reported since it last looked, and puts it in its place. Rows in sight that run
   * are looked at again, and changed once they have ended.
   *
   * @param now milliseconds since 1970
   */
  readonly catchUp = async (now: number, signal: AbortSignal): Promise<void> => {
    const { rows, complete } = this.store.getState();
    const isBegun = rows.length > 0 || complete;
    if (this.#catchingUp || this.#reading || !isBegun) return;
    this.#catchingUp = true;
    try {
      const [first, last] = this.inSight;
      const running = rows.slice(first, last + 1).filter((row) => getStatus(row) === 'running');
      await this.#look(now, signal);
      if (running.length > 0) await this.#readAgain(running, signal);
    } catch {
      // The next look may succeed. A key that is refused asks for another by itself.
    } finally {
      this.#catchingUp = false;
    }
  };

  /** Changes a row, if it is there. */
  readonly change = (id: string, change: (row: CallRow) => CallRow): void => {
    if (this.#ids.has(id))
      this.store.setState({
        rows: this.store.getState().rows.map((row) => (row.id === id ? change(row) : row)),
      });
  };

  /** Removes calls that were deleted, and the rows of calls below them. */
  readonly remove = (ids: readonly string[]): void => {
    const { rows, figures } = this.store.getState();
    const gone = new Set(ids);
    for (let before = -1; before < gone.size; ) {
      before = gone.size;
      for (const row of rows) if (row.parent_id && gone.has(row.parent_id)) gone.add(row.id);
    }
    const kept = rows.filter(({ id }) => !gone.has(id));
    if (kept.length === rows.length) return;
    for (const id of gone) this.#ids.delete(id);
    // Rows that are there already do not come twice, so it is safe to skip too few.
    const { read, last } = this.#cursor;
    this.#cursor = {
      read: Math.max(0, read - (rows.length - kept.length)),
      same: 0,
      ...(last !== undefined && { last }),
    };
    const at = rows[this.active];
    this.active =
      at === undefined || gone.has(at.id) ? Math.min(this.active, kept.length - 1) : kept.indexOf(at);
    this.store.setState({ rows: kept, figures: new Map([...figures].filter(([id]) => !gone.has(id))) });
  };

  /** @returns how many rows the page has */
  async #readPage(signal: AbortSignal): Promise<number> {
    const { client, costTest, roots } = this.options;
    const page = nextPage(this.request, this.#cursor);
    // What traces cost is asked for many of them at a time.
    const atOnce = costTest && roots ? chunkSize : 1;
    let waiting: CallRow[] = [];
    let received = 0;
    for await (const batch of client.stream('/calls/stream_query', page, signal)) {
      received += batch.length;
      waiting.push(...batch);
      if (waiting.length < atOnce) continue;
      await this.#append(waiting, signal);
      waiting = [];
    }
    await this.#append(waiting, signal);
    return received;
  }

  async #append(rows: readonly CallRow[], signal: AbortSignal): Promise<void> {
    if (rows.length === 0) return;
    const { costTest, roots } = this.options;
    const fresh = rows.filter(({ id }) => !this.#ids.has(id));
    const known = costTest && (roots ? await this.#readTraces(fresh, signal) : ownFigures(fresh));
    const kept = known ? fresh.filter(({ id }) => costTest(known.get(id))) : fresh;
    for (const { id } of kept) this.#ids.add(id);
    this.#cursor = advanced(this.#cursor, rows);
    this.store.setState({
      rows: this.#joined(this.store.getState().rows, kept),
      read: this.store.getState().read + fresh.length,
      ...(known && { figures: this.#withFigures(known) }),
    });
  }

  /**
   * Rows with more of them. A search has one row for a trace: the call that began first, since what was
   * said there is repeated in the requests that follow. It takes the place of the one that came before.
   */
  #joined(rows: readonly CallRow[], more: readonly CallRow[]): CallRow[] {
    if (!this.options.text) return [...rows, ...more];
    const byTrace = new Map<string, CallRow>();
    for (const row of [...rows, ...more]) {
      const known = byTrace.get(row.trace_id);
      if (!known || row.started_at < known.started_at) byTrace.set(row.trace_id, row);
    }
    return [...byTrace.values()];
  }

  /** Adds what is new all at once: a part of it would hide that the rest is missing. */
  async #look(now: number, signal: AbortSignal): Promise<void> {
    const { client } = this.options;
    const { rows, complete } = this.store.getState();
    const newest = rows[0]?.started_at;
    const isWide = newest === undefined || this.#looks % looksPerWide === 0;
    // The page's clock may be ahead of those that calls are timed by, or behind them.
    const since = Math.min(this.#wideAt, newest === undefined ? now : parseTime(newest));
    const oldest = complete ? undefined : parseTime(rows.at(-1)?.started_at);
    const request = isWide ? reportedSince(this.request, since, oldest) : newerThan(this.request, newest);
    const found: CallRow[] = [];
    for await (const batch of client.stream('/calls/stream_query', request, signal)) found.push(...batch);
    // A page that is on its way has its place by the rows as they are.
    if (this.#reading) return;
    this.#merge(found);
    this.#looks++;
    if (isWide) this.#wideAt = now;
  }

  #merge(found: readonly CallRow[]): void {
    const rows = found.filter(({ id }) => !this.#ids.has(id));
    if (rows.length === 0) return;
    for (const { id } of rows) this.#ids.add(id);
    const all = this.#joined(this.store.getState().rows, rows).sort(newestFirst);
    if (all.length <= maxLiveRows && found.length < maxLiveRows) {
      this.store.setState({ rows: all, read: this.store.getState().read + rows.length });
      return;
    }
    const kept = all.slice(0, maxLiveRows);
    for (const { id } of all.slice(maxLiveRows)) this.#ids.delete(id);
    this.#cursor = advanced(atStart, kept);
    this.store.setState({ rows: kept, read: kept.length, figures: this.#withFigures([]), complete: false });
  }

  /** Reads rows that ran, and puts those that have ended in their places. */
  async #readAgain(rows: readonly CallRow[], signal: AbortSignal): Promise<void> {
    const { client, roots } = this.options;
    const ids = rows.map(({ id }) => id);
    const ended = new Map<string, CallRow>();
    for await (const batch of client.stream('/calls/stream_query', rowsAgain(this.request, ids), signal))
      for (const row of batch) if (getStatus(row) !== 'running') ended.set(row.id, row);
    if (ended.size === 0) return;
    const known = roots ? await this.#readTraces([...ended.values()], signal) : [];
    this.store.setState({
      rows: this.store.getState().rows.map((row) => ended.get(row.id) ?? row),
      figures: this.#withFigures(known),
    });
  }

  /** The figures of the rows that are there, with more of them. */
  #withFigures(known: Iterable<readonly [string, RowFigures]>): Map<string, RowFigures> {
    return new Map([...this.store.getState().figures, ...known].filter(([id]) => this.#ids.has(id)));
  }

  /** What the traces of roots used: as the rows say it, or as the service answers to a request for it. */
  #readTraces(rows: readonly CallRow[], signal: AbortSignal): Promise<Map<string, RowFigures>> {
    const { client, request } = this.options;
    const known = rows.flatMap((row): [string, RowFigures][] => {
      const totals = getTotals(row);
      return totals ? [[row.id, totals]] : [];
    });
    return known.length === rows.length
      ? Promise.resolve(new Map(known))
      : readUsage(client, request.project_id, rows, signal);
  }
}
