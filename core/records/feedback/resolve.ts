import { Heap, mapBatches } from '../../../foundations/listing/index.ts';
import type { Micros } from '../../../foundations/wire/index.ts';
import { type Entry, type FeedbackRecord, getPosition, type Position } from './model.ts';

interface Pending {
  readonly chain: string;
  readonly position: Position;
}

/**
 * Revisions that tombstones have named and that have not been met: at most one of each chain. There
 * can be as many as were replaced in a day, so the earliest is found in logarithmic time.
 */
export class PendingRevisions {
  readonly #positions = new Map<string, Position>();
  /** In order of time. What is not pending any more stays in it until it comes first. */
  readonly #queue = new Heap<Pending>((a, b) => a.position.createdAt - b.position.createdAt);

  /** Expects a chain's next revision at a position, and no longer at another. */
  set(chain: string, position: Position): void {
    this.#positions.set(chain, position);
    this.#queue.push({ chain, position });
  }

  /** Expects no revision of a chain any more. */
  delete(chain: string): void {
    this.#positions.delete(chain);
  }

  /** Takes the earliest position before a time out; undefined if there is none. */
  takeBefore(time: Micros): Position | undefined {
    for (let next = this.#queue.first; next && next.position.createdAt < time; next = this.#queue.first) {
      this.#queue.pop();
      const { chain, position } = next;
      if (this.#positions.get(chain) !== position) continue;
      this.#positions.delete(chain);
      return position;
    }
    return undefined;
  }
}

/*
 * A replacement is one transaction in the table, but a reader of an index sees its two halves one
 * by one. The rows of the old revision and of the new one are in different places, which are read
 * at different times. Each row follows its item in its own time. So the old row stays for a while,
 * as a tombstone that names the next revision, and every revision of a chain names the first.
 *
 * That tells a reader how to answer exactly one revision of each chain, in whatever state it meets
 * each row. It answers the first revision that it meets. When it meets tombstones alone, it gets
 * the revision to which they lead from the table.
 */

/** Reads what is stored under a position's id now, strongly consistent. */
export type Find = (position: Position) => Promise<Entry | undefined>;

const toPositionKey = ({ createdAt, id }: Position): string => `${createdAt} ${id}`;
/** Names the chain that an entry is of: by the position of its first revision. */
const toChainKey = (entry: Entry): string => toPositionKey(entry.origin ?? getPosition(entry));
const isAt = (entry: Entry | undefined, position: Position): entry is Entry =>
  entry !== undefined && toPositionKey(getPosition(entry)) === toPositionKey(position);

/**
 * At least so many chains are remembered, and at most twice as many; each takes about 100 bytes.
 */
const remembered = 500_000;

/** The chains of which a revision was answered, the latest of them. */
class AnsweredChains {
  #older: ReadonlySet<string> = new Set();
  #newer = new Set<string>();

  has(chain: string): boolean {
    return this.#newer.has(chain) || this.#older.has(chain);
  }

  add(chain: string): void {
    this.#newer.add(chain);
    if (this.#newer.size < remembered) return;
    this.#older = this.#newer;
    this.#newer = new Set();
  }
}

/** Gives the records to be answered for each entry that is met. */
interface Resolver {
  /** The records to answer for an entry, in order. */
  take(entry: Entry): Promise<FeedbackRecord[]>;
  /** The records whose time has passed without their being met. */
  overdue(now: Micros): Promise<FeedbackRecord[]>;
}

/** Resolves entries in order of creation: a revision comes before those that replaced it. */
class ForwardResolver implements Resolver {
  readonly #find: Find;
  readonly #answered = new AnsweredChains();
  readonly #pending = new PendingRevisions();

  constructor(find: Find) {
    this.#find = find;
  }

  /** Those that should have been met before the entry come first, then the entry itself. */
  async take(entry: Entry): Promise<FeedbackRecord[]> {
    const before = await this.overdue(getPosition(entry).createdAt);
    return [...before, ...this.#meet(entry)];
  }

  /** Rows of pending revisions whose time has passed are behind their items. */
  async overdue(now: Micros): Promise<FeedbackRecord[]> {
    const late: FeedbackRecord[] = [];
    for (;;) {
      const position = this.#pending.takeBefore(now);
      if (!position) return late;
      const entry = await this.#find(position);
      // At another time, it is a record that came under the same id after this one was purged.
      if (isAt(entry, position)) late.push(...this.#meet(entry));
    }
  }

  #meet(entry: Entry): FeedbackRecord[] {
    const chain = toChainKey(entry);
    if (this.#answered.has(chain)) return [];
    if (entry.kind === 'tombstone') {
      this.#pending.set(chain, entry.replacedBy);
      return [];
    }
    this.#pending.delete(chain);
    this.#answered.add(chain);
    return [entry];
  }
}

/**
 * Resolves entries in the reverse order of creation: a revision comes after those that replaced it.
 * A revision that was not there yet when its position was passed is answered at the position of the
 * one that it replaced.
 */
class BackwardResolver implements Resolver {
  readonly #find: Find;
  readonly #answered = new AnsweredChains();

  constructor(find: Find) {
    this.#find = find;
  }

  async take(entry: Entry): Promise<FeedbackRecord[]> {
    const chain = toChainKey(entry);
    if (this.#answered.has(chain)) return [];
    // Nothing of a chain comes after its first revision.
    if (entry.kind === 'tombstone' || entry.origin) this.#answered.add(chain);
    const record = entry.kind === 'record' ? entry : await this.#last(entry.replacedBy);
    return record ? [record] : [];
  }

  /** None is ever late: what is missing is fetched when its tombstone is met. */
  async overdue(): Promise<FeedbackRecord[]> {
    return [];
  }

  /** The last revision of a chain, from a position on; undefined if it was purged. */
  async #last(position: Position): Promise<FeedbackRecord | undefined> {
    for (let next = position; ; ) {
      const entry = await this.#find(next);
      if (!isAt(entry, next)) return undefined;
      if (entry.kind === 'record') return entry;
      next = entry.replacedBy;
    }
  }
}

/**
 * Turns the entries that a reader meets into the records that it answers: one revision of each
 * chain.
 *
 * @param batches in order of creation, or in its reverse if `descending`
 * @returns records in the same order
 * @throws whatever `find` throws
 */
export async function* resolve(
  descending: boolean,
  batches: AsyncIterable<readonly Entry[]>,
  find: Find,
): AsyncGenerator<readonly FeedbackRecord[]> {
  const resolver: Resolver = descending ? new BackwardResolver(find) : new ForwardResolver(find);
  yield* mapBatches(batches, async (batch) => {
    const resolved: FeedbackRecord[] = [];
    for (const entry of batch) resolved.push(...(await resolver.take(entry)));
    return resolved;
  });
  const late = await resolver.overdue(Number.POSITIVE_INFINITY);
  if (late.length > 0) yield late;
}
