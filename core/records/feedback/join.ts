import { mapConcurrent, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import { callRef, type JsonValue, type ProjectId } from '../../../foundations/wire/index.ts';
import { FeedbackReader, joinedFields } from './answer.ts';
import type { FeedbackRecord } from './model.ts';
import { findRecords, type Search } from './query.ts';

/** A search for everything in one place, oldest first. */
const everything: Omit<Search, 'source'> = {
  bounds: {},
  descending: false,
  order: 'free',
  enough: null,
  limit: null,
};

/** How many calls are looked up at once. */
const concurrency = 32;
/** So few calls are looked up in two rounds, which take no longer than reading the project's feedback. */
const fewCalls = 2 * concurrency;
/**
 * How much of the project's feedback is read for each call, in bytes: a quarter of what half a read unit
 * can read, which looking the call up would take.
 */
const bytesPerCall = 1024;
/** The most of a project's feedback that is read, in bytes: it is held until the query ends. */
const mostBytes = 8 * 1024 * 1024;
/** The most bytes of nearly every record in an index, for the size of pages. */
const bytesPerRecord = 1024;

/**
 * How many bytes of feedback projects are known to have at least, by store: those that queries gave up
 * after. A function keeps it, so that large projects are not begun again and again.
 */
const atLeast = new WeakMap<Store, Map<ProjectId, number>>();
/** The most projects of a store that this is kept of. */
const maxProjects = 1000;

/** Sets a value of a map that keeps only so many, those that were set last. */
export const setNewest = <Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void => {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) if (map.size > most) map.delete(oldest);
};

const getKnown = (store: Store): Map<ProjectId, number> => {
  const known = atLeast.get(store) ?? new Map<ProjectId, number>();
  atLeast.set(store, known);
  return known;
};

/**
 * Joins feedback onto the calls of one query. The more calls ask, the more of the project's feedback is read
 * as a whole. As soon as that is all there is, no call is looked up any more. Before that, and in projects
 * with much more feedback than the query has calls, it takes one look-up for each call.
 */
export class FeedbackJoin {
  readonly #store: Store;
  readonly #projectId: ProjectId;
  readonly #budget: RequestBudget;
  readonly #maxBytes: number;
  readonly #counts = { scanned: 0, bytes: 0 };
  /** The calls that have asked. */
  #calls = 0;
  /** What was read of the project, by ref, oldest first. Payloads that lie apart are left out. */
  readonly #found = new Map<string, FeedbackRecord[]>();
  #project: AsyncGenerator<readonly FeedbackRecord[]> | undefined;
  #isComplete = false;
  #reading: Promise<void> = Promise.resolve();

  /** @param maxBytes the most of the project's feedback that is read as a whole */
  constructor(store: Store, projectId: ProjectId, budget: RequestBudget, maxBytes = mostBytes) {
    this.#store = store;
    this.#projectId = projectId;
    this.#budget = budget;
    this.#maxBytes = maxBytes;
  }

  /**
   * The feedback on calls by call id, oldest first; calls without any are missing.
   *
   * @param callIds each once
   * @throws ServiceError 503 when storage does not give something in time
   */
  async on(callIds: readonly string[]): Promise<ReadonlyMap<string, JsonValue[]>> {
    this.#calls += callIds.length;
    if (this.#calls > fewCalls) {
      this.#reading = this.#reading.then(() => this.#readProject(bytesPerCall * this.#calls));
      await this.#reading;
    }
    // One for each answer: it holds what it parses for as long as records are held.
    const reader = new FeedbackReader();
    const found = await mapConcurrent(callIds, concurrency, async (id): Promise<[string, JsonValue[]]> => {
      const records = await this.#recordsOn(callRef(this.#projectId, id));
      return [id, records.map((record) => reader.object(record, joinedFields))];
    });
    return new Map(found.filter(([, records]) => records.length > 0));
  }

  async #recordsOn(ref: string): Promise<readonly FeedbackRecord[]> {
    const known = this.#isComplete ? (this.#found.get(ref) ?? []) : undefined;
    if (known?.every(({ payload }) => payload !== null)) return known;
    const search: Search = { ...everything, source: { kind: 'refs', values: [ref] } };
    const records = findRecords(this.#store, this.#projectId, search, () => true, this.#budget);
    return (await Array.fromAsync(records)).flat().filter(({ header }) => header.ref === ref);
  }

  /** Reads on until the project's feedback is complete, or until it is so many bytes. */
  async #readProject(bytes: number): Promise<void> {
    const known = getKnown(this.#store);
    const most = Math.min(bytes, this.#maxBytes);
    if ((known.get(this.#projectId) ?? 0) >= most) return;
    while (!this.#isComplete && this.#counts.bytes < most) {
      this.#project ??= this.#scan(Math.ceil(most / bytesPerRecord));
      const { done, value } = await this.#project.next();
      if (done) this.#isComplete = true;
      else for (const record of value) this.#add(record);
    }
    if (this.#isComplete) return;
    setNewest(known, this.#projectId, this.#counts.bytes, maxProjects);
  }

  #add(record: FeedbackRecord): void {
    const { ref } = record.header;
    const onRef = this.#found.get(ref);
    if (onRef) onRef.push(record);
    else this.#found.set(ref, [record]);
  }

  #scan(enough: number): AsyncGenerator<readonly FeedbackRecord[]> {
    const search: Search = {
      ...everything,
      source: { kind: 'project' },
      enough,
      limit: enough,
      growth: 1,
    };
    return findRecords(this.#store, this.#projectId, search, () => false, this.#budget, this.#counts);
  }
}
