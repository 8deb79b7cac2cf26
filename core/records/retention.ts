import type { AppliedCounts } from '../../api/project.ts';
import { retention, retentionObject } from '../../api/project-objects.ts';
import { retentionClass } from '../../api/shared/classes.ts';
import { joinBytes } from '../../foundations/encoding/index.ts';
import {
  asBytes,
  type Cursor,
  deleteItems,
  everyShard,
  expireBy,
  expiryTag,
  type Item,
  type KeyRange,
  listFolders,
  listObjects,
  mapConcurrent,
  type ProjectRetention,
  queryPage,
  type RequestBudget,
  type Store,
  type Table,
  tagObject,
  toBucketDays,
} from '../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../foundations/wire/index.ts';
import { makeParser } from '../../foundations/wire/schema.ts';
import { CallExpiry, expiresAt, isDue, type Keeping } from './calls/expire.ts';
import { type TimeBounds, timeRange } from './calls/index.ts';
import { feedbackTimeRange, timeOfFeedbackRow } from './feedback/index.ts';
import { readHeads, readNewest } from './objects/index.ts';
import { noteRetention, readRetention } from './projects.ts';
import { type ProjectStores, Sweep, type SweepState, sweepKey } from './sweeps.ts';
import { textsRange } from './texts.ts';

/**
 * Notes what a project's object `retention` says, for all who store something. Whoever changes the object
 * calls this afterwards.
 *
 * @throws ServiceError 503 when storage does not answer in time; the same request may be sent again
 */
export const noteRetentionObject = async (
  objects: Store,
  bookkeeping: Table,
  projectId: ProjectId,
  budget: RequestBudget,
): Promise<void> => {
  const name = { projectId, objectId: retentionObject };
  // The head comes first: a change in between has a later generation, and is noted by whoever made it.
  const [head] = await readHeads(objects, [name], budget);
  // There never was one, and perhaps no project.
  if (!head) return;
  const value = await readNewest(objects, name, retentionClass, makeParser(retention()), budget);
  const days = {
    callsDays: value?.callsDays ?? undefined,
    feedbackDays: value?.feedbackDays ?? undefined,
  };
  await noteRetention(bookkeeping, projectId, days, head.generation, budget);
};

/**
 * Who stores something may know the retention of a minute ago, and may take half a minute more: this long
 * after a change some may still be stored without the expiry, in milliseconds.
 */
const lagMs = 90_000;

/** Records of feedback whose expiry is set at the same time. */
const atOnce = 32;
/** Rows of an index that are read together. */
const rowsAtOnce = 1000;

interface State extends SweepState {
  /** When the retention that is applied was set, in milliseconds since 1970. */
  readonly setAt: number;
  /** When it began to be applied, in seconds since 1970. */
  readonly began: number;
  /** When the look at all that is stored began that is under way, in milliseconds since 1970; 0 for none. */
  lookAt: number;
  readonly applied: Record<keyof AppliedCounts, number>;
  /** Where parts go on: behind a page, or behind the last row, by its sort key. */
  readonly at: Record<string, Cursor | string>;
  /** Behind which key folders of the bucket go on. */
  keys: Record<string, string>;
}

const nothing = (): State['applied'] => ({
  calls: 0,
  calls_due: 0,
  feedback: 0,
  feedback_due: 0,
  bucket_objects: 0,
});

class Application {
  readonly #stores: ProjectStores;
  readonly #project: ProjectId;
  readonly #state: State;
  readonly #budget: RequestBudget;

  constructor(stores: ProjectStores, project: ProjectId, state: State, budget: RequestBudget) {
    this.#stores = stores;
    this.#project = project;
    this.#state = state;
    this.#budget = budget;
  }

  /** All that is to be done, in order. */
  steps(callsDays: number | undefined, feedbackDays: number | undefined) {
    const now = this.#state.began;
    return [
      ...(callsDays === undefined ? [] : this.#ofCalls({ days: callsDays, now })),
      ...(feedbackDays === undefined ? [] : [() => this.#feedback({ days: feedbackDays, now })]),
      ...(callsDays === undefined ? [] : [() => this.#texts()]),
      ...(callsDays === undefined ? [] : [() => this.#bucket('segments/', callsDays)]),
      ...(feedbackDays === undefined ? [] : [() => this.#bucket('feedback/', feedbackDays)]),
    ];
  }

  #ofCalls(keeping: Keeping) {
    const expiry = new CallExpiry(this.#stores.calls, this.#project, keeping, this.#budget);
    const edge: Micros = (keeping.now - keeping.days * 86_400) * 1e6;
    return [
      () => this.#calls(expiry, { from: edge + 1 }, false),
      () => this.#calls(expiry, { to: edge }, true),
    ];
  }

  async *#calls(expiry: CallExpiry, bounds: TimeBounds, areDue: boolean): AsyncGenerator<void> {
    const { calls } = this.#stores;
    const { applied } = this.#state;
    for (const level of ['roots', 'nested'] as const)
      for (const shard of everyShard(calls)) {
        const range = timeRange(this.#project, level, shard, bounds);
        for await (const rows of this.#rows(calls.table, range, `${level} ${shard} ${areDue}`)) {
          const changed = await expiry.expire(rows, areDue);
          applied.calls += changed;
          if (areDue) applied.calls_due += changed;
          yield;
        }
      }
  }

  async *#feedback(keeping: Keeping): AsyncGenerator<void> {
    const { feedback } = this.#stores;
    const { applied } = this.#state;
    for (const shard of everyShard(feedback)) {
      const range = feedbackTimeRange(this.#project, shard, {});
      for await (const rows of this.#rows(feedback.table, range, `feedback ${shard}`)) {
        await mapConcurrent(rows, atOnce, async (row) => {
          const createdAt = timeOfFeedbackRow(row);
          const time = expiresAt(createdAt, keeping);
          const item = await expireBy(feedback.table, { k: row.k ?? null }, time, this.#budget);
          if (!item || item.r !== undefined) return;
          applied.feedback++;
          if (isDue(createdAt, keeping)) applied.feedback_due++;
        });
        yield;
      }
    }
  }

  /**
   * The rows of a range that are not done yet, in order. A page is done when the next is asked for. Behind the
   * last page, the rows go on that are new since.
   */
  async *#rows(table: Table, range: KeyRange, part: string): AsyncGenerator<Item[]> {
    const { at } = this.#state;
    const [name = '', from, to] = range.sort ?? [];
    if (!from || !to) throw new Error('the range has no bounds');
    const before = at[part];
    const first = typeof before === 'string' ? joinBytes(Buffer.from(before, 'base64'), 0) : from;
    // An empty range is refused.
    if (Buffer.compare(first, to) > 0) return;
    let start = typeof before === 'string' ? undefined : before;
    do {
      const options = { limit: rowsAtOnce, start };
      const { items, next } = await queryPage(
        table,
        { ...range, sort: [name, first, to] },
        this.#budget,
        options,
      );
      if (items.length > 0) yield items;
      const last = asBytes(items.at(-1)?.[name]);
      if (next) at[part] = next;
      else if (last) at[part] = Buffer.from(last).toString('base64');
      start = next;
    } while (start);
  }

  /** Deletes what is known of the texts of calls: the next search notes it anew, until they expire. */
  async *#texts(): AsyncGenerator<void> {
    const { bookkeeping } = this.#stores;
    let start: Cursor | undefined;
    do {
      const options = { attributes: ['k', 's'], limit: rowsAtOnce, start };
      const { items, next } = await queryPage(bookkeeping, textsRange(this.#project), this.#budget, options);
      await deleteItems(bookkeeping, items, this.#budget);
      start = next;
      yield;
    } while (start);
  }

  /** Tags objects that were stored with a later expiry or none. A rule of the bucket deletes by the tag. */
  async *#bucket(root: string, days: number): AsyncGenerator<void> {
    const { bucket } = this.#stores.calls;
    const { keys: doneKeys, applied } = this.#state;
    const tag = { name: expiryTag, value: String(toBucketDays(days)) };
    for (const folder of await listFolders(bucket, root, this.#budget)) {
      const [, expiring = 'Infinity'] = /expiring-(\d+)\/$/.exec(folder) ?? [];
      if (Number(expiring) <= toBucketDays(days)) continue;
      const prefix = `${folder}${this.#project}/`;
      for await (const keys of listObjects(bucket, prefix, this.#budget, doneKeys[folder])) {
        await mapConcurrent(keys, atOnce, (key) => tagObject(bucket, key, tag, this.#budget));
        applied.bucket_objects += keys.length;
        doneKeys[folder] = keys.at(-1) ?? '';
        yield;
      }
    }
  }
}

/**
 * Applies a project's retention to what is stored already, as far as there is time for it.
 *
 * @param announce is told that it begins, and for how long what is stored is kept
 * @returns whether all is done, and what was done since it began
 * @throws ServiceError 503 when storage does not answer in time; the same request goes on
 */
export const applyRetention = async (
  stores: ProjectStores,
  project: ProjectId,
  budget: RequestBudget,
  lag = lagMs,
  announce: (days: ProjectRetention) => Promise<void> = async () => {},
): Promise<{ readonly done: boolean; readonly applied: AppliedCounts }> => {
  const { bookkeeping } = stores;
  const { callsDays, feedbackDays, changedAt } = await readRetention(bookkeeping, project, budget);
  if (callsDays === undefined && feedbackDays === undefined) return { done: true, applied: nothing() };
  const sweep = await Sweep.load<State>(
    bookkeeping,
    sweepKey(project, 'retain'),
    () => ({
      next: 0,
      setAt: changedAt,
      began: Math.floor(Date.now() / 1000),
      lookAt: 0,
      applied: nothing(),
      at: {},
      keys: {},
    }),
    budget,
    ({ setAt }) => setAt === changedAt,
  );
  const { state } = sweep;
  state.lookAt ||= Date.now();
  if (sweep.isNew) await announce({ callsDays, feedbackDays });
  const application = new Application(stores, project, state, budget);
  const isThrough = await sweep.run(application.steps(callsDays, feedbackDays));
  const isEarly = state.lookAt < changedAt + lag;
  const applied = { ...state.applied };
  if (isThrough && isEarly) {
    // The next request looks for what was stored since by those who did not know it yet.
    state.next = 0;
    state.lookAt = 0;
    // Keys in the bucket are in no order of time.
    state.keys = {};
    state.applied.bucket_objects = 0;
    await sweep.keep();
  } else if (isThrough) await sweep.forget();
  return { done: isThrough && !isEarly, applied };
};
