import type { CallRow } from '../../api/calls.ts';

/** A row that something is looked up for. */
export type Seen = Pick<CallRow, 'id' | 'trace_id'>;

/** As many rows are asked for at once, at least. A request costs more than what they read. */
const minRows = 16;

/** Which rows are in sight, by their places, and whether no more are on their way. */
export interface Sight {
  readonly first: number;
  readonly last: number;
  readonly settled: boolean;
}

/**
 * The batches in which a list looks something up for its rows, such as the usage of their traces. It
 * asks for rows in sight, and each once, whatever comes before it or behind.
 */
export class SightBatches {
  #batches = new Map<string, readonly Seen[]>();

  /**
   * The batches that rows in sight belong to. Those in none make a new one, with the rows behind
   * them if they are few. While rows come in, it waits until they are enough.
   */
  inSight(rows: readonly Seen[], { first, last, settled }: Sight): (readonly Seen[])[] {
    const seen = rows.slice(Math.max(0, first), last + 1);
    const missing = this.#missing(seen);
    if (missing.length > 0 && (settled || missing.length >= minRows)) {
      const behind = this.#missing(rows.slice(last + 1, last + minRows));
      this.#add([...missing, ...behind.slice(0, Math.max(0, minRows - missing.length))], rows);
    }
    return [...new Set(seen.flatMap(({ id }) => [this.#batches.get(id) ?? []]))].filter(
      ({ length }) => length > 0,
    );
  }

  #missing(rows: readonly Seen[]): readonly Seen[] {
    return rows.filter(({ id }) => !this.#batches.has(id));
  }

  #add(seen: readonly Seen[], rows: readonly Seen[]): void {
    // A live list loses its oldest rows.
    if (this.#batches.size > 2 * rows.length) this.#forget(new Set(rows.map(({ id }) => id)));
    const batch = seen.map(({ id, trace_id }) => ({ id, trace_id }));
    for (const { id } of batch) this.#batches.set(id, batch);
  }

  #forget(kept: ReadonlySet<string>): void {
    this.#batches = new Map([...this.#batches].filter(([id]) => kept.has(id)));
  }
}
