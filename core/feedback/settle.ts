import type { Micros } from '../wire/index.ts';
import { type Entry, type FeedbackRecord, type Place, placeOf } from './model.ts';

/*
 * A replacement is one transaction in the table, but a reader of an index sees its two halves one by one: the rows of the old record and of the new one lie in
 * different places, which are read at different times, and each row follows its item in its own time. So the old record's row stays for a while, as a
 * tombstone that names the new record, and the new one names the old. From those two links a reader knows what it has to do, so that of each chain of
 * records, each in the place of the one before, exactly one is answered, whatever the state in which each row is met:
 *
 * - met the old record: the new one is left out
 * - met its tombstone: the new one is answered; where its row is not met, it is fetched from the table
 */

/** Reads what stands under a place's id now, strongly consistent. */
export type Find = (place: Place) => Promise<Entry | undefined>;

const keyOf = ({ createdAt, id }: Place): string => `${createdAt} ${id}`;
const isAt = (entry: Entry | undefined, place: Place): entry is Entry =>
  entry !== undefined && keyOf(placeOf(entry)) === keyOf(place);

/** So many places are remembered at most; each takes about 100 bytes. */
const mostRemembered = 1_000_000;

/** Remembers the places of records that were answered, the latest of them. */
class Memory {
  readonly #keys = new Set<string>();

  has(place: Place | null): boolean {
    return place !== null && this.#keys.has(keyOf(place));
  }

  add(place: Place): void {
    this.#keys.add(keyOf(place));
    if (this.#keys.size <= mostRemembered) return;
    const [oldest] = this.#keys;
    if (oldest !== undefined) this.#keys.delete(oldest);
  }
}

/** Settles entries that come in order of creation, where a record comes before those in its place. */
class Forwards {
  readonly #find: Find;
  readonly #passed = new Memory();
  /** The records that tombstones have named and that have not been met. */
  readonly #awaited = new Map<string, Place>();

  constructor(find: Find) {
    this.#find = find;
  }

  /** The records to be answered for an entry, in order: those that should have been met before it, and itself. */
  async take(entry: Entry): Promise<FeedbackRecord[]> {
    if (this.#awaited.size === 0) return this.#meet(entry);
    const before = await this.overdue(placeOf(entry).createdAt);
    return [...before, ...this.#meet(entry)];
  }

  /** The awaited records whose time has been passed: their rows are behind their items. */
  async overdue(now: Micros): Promise<FeedbackRecord[]> {
    const late: FeedbackRecord[] = [];
    for (;;) {
      const next = this.#earliest();
      if (!next || next.createdAt >= now) return late;
      this.#awaited.delete(keyOf(next));
      const entry = await this.#find(next);
      // Whoever stands there at another time came under the same id after this one had been purged.
      if (isAt(entry, next)) late.push(...this.#meet(entry));
    }
  }

  #meet(entry: Entry): FeedbackRecord[] {
    const place = placeOf(entry);
    this.#awaited.delete(keyOf(place));
    if (this.#passed.has(entry.replaces)) {
      // The first of its chain was answered: so neither this one is nor what came in its place.
      this.#passed.add(place);
      return [];
    }
    if (entry.kind === 'record') {
      this.#passed.add(place);
      return [entry];
    }
    this.#awaited.set(keyOf(entry.replacedBy), entry.replacedBy);
    return [];
  }

  #earliest(): Place | undefined {
    let first: Place | undefined;
    for (const place of this.#awaited.values())
      if (!first || place.createdAt < first.createdAt) first = place;
    return first;
  }
}

/**
 * Settles entries that come in the reverse order of creation, where a record comes after those in its place. One that was not there yet when its place was
 * passed is answered in the place of the one that it replaced.
 */
class Backwards {
  readonly #find: Find;
  /** The places of the records in whose place others were met. */
  readonly #superseded = new Memory();
  /** The records met that came in the place of others. */
  readonly #met = new Memory();

  constructor(find: Find) {
    this.#find = find;
  }

  /** The record to be answered for an entry, if there is one. */
  async take(entry: Entry): Promise<FeedbackRecord[]> {
    const isSuperseded = this.#superseded.has(placeOf(entry));
    if (entry.replaces) this.#superseded.add(entry.replaces);
    if (isSuperseded) return [];
    const record = entry.kind === 'record' ? entry : await this.#last(entry.replacedBy);
    if (!record || (record.replaces && this.#met.has(record.header))) return [];
    if (record.replaces) this.#met.add(record.header);
    return [record];
  }

  /** Nothing is ever behind: whatever is missing is fetched where its tombstone is met. */
  async overdue(): Promise<FeedbackRecord[]> {
    return [];
  }

  /** The last of a chain, from one of its places on; undefined where that has been purged. */
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
 * Turns what a reader meets into the records that it is to answer, in order of creation or its reverse: of each chain of records, each in the place of the
 * one before, one.
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
