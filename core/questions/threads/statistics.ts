import type { ThreadRow } from '../../../api/threads.ts';
import { compareText } from '../../../foundations/expression/index.ts';
import { formatTime, type Micros } from '../../../foundations/wire/index.ts';

/** A turn of a thread, as far as statistics go by it. */
export interface Turn {
  readonly id: string;
  readonly startedAt: Micros;
  /** Null while it is running. */
  readonly endedAt: Micros | null;
}

const lastMoment = ({ startedAt, endedAt }: Turn): Micros => endedAt ?? startedAt;

const byStart = (a: Turn, b: Turn): number => a.startedAt - b.startedAt || compareText(a.id, b.id);

const byLastMoment = (a: Turn, b: Turn): number => lastMoment(a) - lastMoment(b) || byStart(a, b);

const microsPerMilli = 1000;

/**
 * The statistics of one thread as its turns come, in any order, each once. It keeps one number of a
 * turn: its duration.
 */
export class ThreadFold {
  readonly threadId: string;
  #turns = 1;
  #first: Turn;
  #last: Turn;
  /** In microseconds. */
  readonly #durations: number[] = [];

  /** @param turn any turn of the thread: there is no thread without one */
  constructor(threadId: string, turn: Turn) {
    this.threadId = threadId;
    this.#first = turn;
    this.#last = turn;
    this.#addDuration(turn);
  }

  add(turn: Turn): void {
    this.#turns++;
    if (byStart(turn, this.#first) < 0) this.#first = turn;
    if (byLastMoment(turn, this.#last) > 0) this.#last = turn;
    this.#addDuration(turn);
  }

  #addDuration({ startedAt, endedAt }: Turn): void {
    if (endedAt !== null) this.#durations.push(endedAt - startedAt);
  }

  /**
   * The thread as it is answered, of the turns that have come so far. Of several turns that started
   * first, the one with the lowest id counts, by code point. Of several that were updated last, the
   * one that started last counts, then the one with the highest id.
   */
  row(): ThreadRow {
    const durations = Float64Array.from(this.#durations).sort();
    const inMillis = (percent: number): number | null =>
      durations.length > 0 ? percentile(durations, percent, microsPerMilli) : null;
    return {
      thread_id: this.threadId,
      turn_count: this.#turns,
      start_time: formatTime(this.#first.startedAt),
      last_updated: formatTime(lastMoment(this.#last)),
      first_turn_id: this.#first.id,
      last_turn_id: this.#last.id,
      p50_turn_duration_ms: inMillis(50),
      p99_turn_duration_ms: inMillis(99),
    };
  }
}

/**
 * A percentile, with linear interpolation between closest ranks: the value at the rank `percent /
 * 100 × (n − 1)`, counted from 0. Numpy's default method and spreadsheets' PERCENTILE.INC give the
 * same.
 *
 * @param ascending at least one value. For integers the answer is the double closest to the
 * percentile, as long as 100 times each is a safe integer
 * @param percent an integer from 0 to 100
 * @param unit how many of the values' units make one of the answer's
 */
export const percentile = (ascending: ArrayLike<number>, percent: number, unit = 1): number => {
  // In whole hundredths of a rank, and divided once at the end, since fractions would be rounded.
  const rank = percent * (ascending.length - 1);
  const below = ascending[Math.floor(rank / 100)] ?? Number.NaN;
  const above = ascending[Math.ceil(rank / 100)] ?? Number.NaN;
  return (100 * below + (rank % 100) * (above - below)) / (100 * unit);
};
