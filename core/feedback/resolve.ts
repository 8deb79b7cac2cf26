import type { Micros } from '../wire/index.ts';
import { Awaited } from './awaited.ts';
import { type Entry, type FeedbackRecord, type Place, placeOf } from './model.ts';

/*
 * A replacement is one transaction in the table, but a reader of an index sees its two halves one
 * by one: the rows of the old record and of the new one lie in different places, which are read at
 * different times, and each row follows its item in its own time. So the old record's row stays for
 * a while, as a tombstone that names the record which came in its place, and all records of a line,
 * each in the place of the one before, name the first. From that a reader knows how to answer
 * exactly one of each line, whatever the state in which it meets each row: the first record that it
 * meets; and where it meets tombstones alone, the record to which they lead, which it gets from the
 * table.
 */

/** Reads what stands under a place's id now, strongly consistent. */
export type Find = (place: Place) => Promise<Entry | undefined>;

const keyOf = ({ createdAt, id }: Place): string => `${createdAt} ${id}`;
/** Names the line that an entry is of. */
const lineOf = (entry: Entry): string => keyOf(entry.origin ?? placeOf(entry));
const isAt = (entry: Entry | undefined, place: Place): entry is Entry =>
  entry !== undefined && keyOf(placeOf(entry)) === keyOf(place);

/** At least so many lines are remembered, and at most twice as many; each takes about 100 bytes. */
const remembered = 500_000;

/** The lines of which a record was answered, the latest of them. */
class Answered {
  #older: ReadonlySet<string> = new Set();
  #newer = new Set<string>();

  has(line: string): boolean {
    return this.#newer.has(line) || this.#older.has(line);
  }

  add(line: string): void {
    this.#newer.add(line);
    if (this.#newer.size < remembered) return;
    this.#older = this.#newer;
    this.#newer = new Set();
  }
}

/**
 * Settles entries that come in order of creation, where a record comes before those in its place.
 */
class Forwards {
  readonly #find: Find;
  readonly #answered = new Answered();
  readonly #awaited = new Awaited();

  constructor(find: Find) {
    this.#find = find;
  }

  /**
   * The records to be answered for an entry, in order: those that should have been met before it,
   * and itself.
   */
  async take(entry: Entry): Promise<FeedbackRecord[]> {
    const before = await this.overdue(placeOf(entry).createdAt);
    return [...before, ...this.#meet(entry)];
  }

  /** The awaited records whose time has been passed: their rows are behind their items. */
  async overdue(now: Micros): Promise<FeedbackRecord[]> {
    const late: FeedbackRecord[] = [];
    for (;;) {
      const place = this.#awaited.takeBefore(now);
      if (!place) return late;
      const entry = await this.#find(place);
      // Whoever stands there at another time came under the same id after this one had been purged.
      if (isAt(entry, place)) late.push(...this.#meet(entry));
    }
  }

  #meet(entry: Entry): FeedbackRecord[] {
    const line = lineOf(entry);
    if (this.#answered.has(line)) return [];
    if (entry.kind === 'tombstone') {
      this.#awaited.set(line, entry.replacedBy);
      return [];
    }
    this.#awaited.delete(line);
    this.#answered.add(line);
    return [entry];
  }
}

/**
 * Settles entries that come in the reverse order of creation, where a record comes after those in
 * its place. One that was not there yet when its place was passed is answered in the place of the
 * one that it replaced.
 */
class Backwards {
  readonly #find: Find;
  readonly #answered = new Answered();

  constructor(find: Find) {
    this.#find = find;
  }

  /** The record to be answered for an entry, if there is one. */
  async take(entry: Entry): Promise<FeedbackRecord[]> {
    const line = lineOf(entry);
    if (this.#answered.has(line)) return [];
    // Nothing of a line comes after its first record.
    if (entry.kind === 'tombstone' || entry.origin) this.#answered.add(line);
    const record = entry.kind === 'record' ? entry : await this.#last(entry.replacedBy);
    return record ? [record] : [];
  }

  /** Nothing is ever late: whatever is missing is fetched where its tombstone is met. */
  async overdue(): Promise<FeedbackRecord[]> {
    return [];
  }

  /** The last record of a line, from a place on; undefined where that has been purged. */
  async #last(place: Place): Promise<FeedbackRecord | undefined> {
    for (let next = place; ; ) {
      const entry = await this.#find(next);
      if (!isAt(entry, next)) return undefined;
      if (entry.kind === 'record') return entry;
      next = entry.replacedBy;
    }
  }
}

/**
 * Turns what a reader meets into the records that it is to answer, in order of creation or its
 * reverse: one of each line.
 *
 * @throws whatever `find` throws
 */
export async function* settle(
  descending: boolean,
  batches: AsyncIterable<readonly Entry[]>,
  find: Find,
): AsyncGenerator<FeedbackRecord[]> {
  const settler = descending ? new Backwards(find) : new Forwards(find);
  for await (const batch of batches) {
    const settled: FeedbackRecord[] = [];
    for (const entry of batch) settled.push(...(await settler.take(entry)));
    if (settled.length > 0) yield settled;
  }
  const late = await settler.overdue(Number.POSITIVE_INFINITY);
  if (late.length > 0) yield late;
}
