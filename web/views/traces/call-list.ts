import { type CallRow, fromWire } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { CallsQueryReq } from '../../api/types.ts';
import { newerThan, nextPage, pageSize } from './request.ts';

/** What a list of calls holds at a moment. */
export interface ListState {
  readonly rows: readonly CallRow[];
  /** `reading` while a page is on its way, `stopped` if its reader stopped it. */
  readonly phase: 'reading' | 'idle' | 'stopped' | 'failed';
  /** Whether all rows are there. */
  readonly complete: boolean;
  readonly error?: unknown;
}

/** In live mode, the oldest rows beyond this number leave the list, so that it does not grow. */
const maxLiveRows = 2000;

type Listener = () => void;

const left = new DOMException('the reader went elsewhere', 'AbortError');

let count = 0;

/** Rows without those that are there already. */
const unknownOf = (rows: readonly unknown[], ids: ReadonlySet<string>, service: string): CallRow[] =>
  rows.map((row) => fromWire(row, service)).filter(({ id }) => !ids.has(id));

/**
 * The rows of one request, page by page, as they come. It lives in the query cache, so that whoever
 * comes back to a list finds it as it was.
 */
export class CallList {
  /** Tells lists apart. */
  readonly number = ++count;
  readonly request: CallsQueryReq;
  /** How far its reader had scrolled, in pixels. */
  scrollTop = 0;
  readonly #client: Client;
  readonly #service: string;
  readonly #listeners = new Set<Listener>();
  readonly #ids = new Set<string>();
  #state: ListState = { rows: [], phase: 'idle', complete: false };
  #reading: AbortController | undefined;
  #catchingUp = false;

  constructor(client: Client, service: string, request: CallsQueryReq) {
    this.#client = client;
    this.#service = service;
    this.request = request;
  }

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): ListState => this.#state;

  /** Reads the next page, unless one is on its way or all is there. */
  readonly more = async (): Promise<void> => {
    if (this.#reading || this.#state.complete) return;
    const reading = new AbortController();
    this.#reading = reading;
    this.#set({ phase: 'reading', error: undefined });
    let received = 0;
    try {
      const page = nextPage(this.request, this.#state.rows);
      for await (const batch of this.#client.stream('POST /calls/stream_query', page, reading.signal)) {
        received += batch.length;
        this.#append(batch);
      }
      this.#set({ phase: 'idle', complete: received < pageSize });
    } catch (error) {
      if (reading.signal.aborted) this.#set({ phase: reading.signal.reason === left ? 'idle' : 'stopped' });
      else this.#set({ phase: 'failed', error });
    } finally {
      this.#reading = undefined;
    }
  };

  /** Stops the page that is on its way. What came stays. */
  readonly stop = (): void => this.#reading?.abort();

  /** Stops because its reader went elsewhere: it goes on when they come back. */
  readonly leave = (): void => this.#reading?.abort(left);

  /**
   * Reads what started since the newest row, and puts it before all others.
   *
   * @param now milliseconds since 1970
   * @returns how many rows were added; 0 if the service did not answer
   */
  readonly catchUp = async (now: number, signal: AbortSignal): Promise<number> => {
    if (this.#catchingUp || this.#reading) return 0;
    this.#catchingUp = true;
    try {
      const request = newerThan(this.request, this.#state.rows[0]?.started_at, now);
      let added = 0;
      for await (const batch of this.#client.stream('POST /calls/stream_query', request, signal))
        added += this.#prepend(batch);
      return added;
    } catch {
      // The next look may succeed. A key that is refused asks for another by itself.
      return 0;
    } finally {
      this.#catchingUp = false;
    }
  };

  /** Changes a row, if it is there. */
  readonly change = (id: string, change: (row: CallRow) => CallRow): void => {
    if (this.#ids.has(id))
      this.#set({ rows: this.#state.rows.map((row) => (row.id === id ? change(row) : row)) });
  };

  #append(batch: readonly unknown[]): void {
    const rows = unknownOf(batch, this.#ids, this.#service);
    for (const { id } of rows) this.#ids.add(id);
    this.#set({ rows: [...this.#state.rows, ...rows] });
  }

  #prepend(batch: readonly unknown[]): number {
    const rows = unknownOf(batch, this.#ids, this.#service);
    for (const { id } of rows) this.#ids.add(id);
    const all = [...rows, ...this.#state.rows];
    for (const { id } of all.slice(maxLiveRows)) this.#ids.delete(id);
    const dropped = all.length > maxLiveRows;
    this.#set({ rows: all.slice(0, maxLiveRows), ...(dropped && { complete: false }) });
    return rows.length;
  }

  #set(change: Partial<ListState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
