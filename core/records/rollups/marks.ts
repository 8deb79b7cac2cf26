import {
  asBytes,
  asNumber,
  type Item,
  mapConcurrent,
  type RequestBudget,
  raiseNumber,
  readRange,
  type Store,
  type Table,
} from '../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../foundations/wire/index.ts';
import { expiryOf, finishedAt, type Hour, hourOf, rollupEnd, safeLagMs } from './hours.ts';
import { numberOf, rollupKey, rollupRange } from './keys.ts';

/** A call that is about to change: when it starts, and when its item expires, if it does. */
export interface Changing {
  readonly startedAt: Micros;
  /** Seconds since 1970. */
  readonly expiresAt?: number | undefined;
}

/** How many hours are marked at once. */
const concurrency = 8;
/** A mark outlives the rollups that it makes stale by some days. */
const graceDays = 30;

/** The attribute with the time until which an hour is not to be stored, in ms since 1970. */
const until = 'u';

/**
 * Marks the hours that one request changes after they were finished, before it changes them. Each
 * is marked once. An hour that is not finished for as long as the request can last needs no mark.
 */
export class HourMarks {
  readonly #store: Store;
  readonly #budget: RequestBudget;
  readonly #marked = new Set<string>();

  constructor(store: Store, budget: RequestBudget) {
    this.#store = store;
    this.#budget = budget;
  }

  /**
   * Marks what calls change of a project's rollups.
   *
   * @throws ServiceError 503 when storage does not accept it in time; nothing may be changed then
   */
  async mark(projectId: ProjectId, calls: Iterable<Changing>): Promise<void> {
    const { rollups: table, retentionDays } = this.#store;
    if (!table) return;
    const seenAt = this.#budget.deadline + safeLagMs;
    const values = new Map<Hour, number>();
    for (const { startedAt, expiresAt } of calls) {
      const hour = hourOf(startedAt);
      const outlived = expiresAt !== undefined && expiresAt * 1000 < rollupEnd(hour, retentionDays);
      if (outlived) values.set(hour, Number.MAX_SAFE_INTEGER);
      else if (seenAt > finishedAt(hour) && !values.has(hour)) values.set(hour, seenAt);
    }
    const fresh = [...values].filter(([hour, value]) => !this.#marked.has(`${projectId} ${hour} ${value}`));
    await mapConcurrent(fresh, concurrency, ([hour, value]) => this.#raise(table, projectId, hour, value));
  }

  async #raise(table: Table, projectId: ProjectId, hour: Hour, value: number): Promise<void> {
    const expiry = expiryOf(hour, this.#store.retentionDays, graceDays);
    const key = rollupKey('marks', projectId, hour);
    await raiseNumber(table, { key, attribute: until, value, expiry }, this.#budget);
    this.#marked.add(`${projectId} ${hour} ${value}`);
  }
}

/**
 * Reads the marks of hours, strongly consistent: until when each is not to be stored, in
 * milliseconds since 1970. It is also the mark's version. Hours without a mark are left out.
 *
 * @throws ServiceError 503 when storage does not give them in time
 */
export const readMarks = async (
  table: Table,
  projectId: ProjectId,
  from: Hour,
  to: Hour,
  budget: RequestBudget,
): Promise<ReadonlyMap<Hour, number>> => {
  const toRow = (item: Item): readonly [Hour, number] => {
    const [hour, value] = [asBytes(item.s), asNumber(item[until])];
    if (!hour || value === undefined) throw new Error('the mark of an hour is damaged');
    return [numberOf(hour), value];
  };
  const marks = new Map<Hour, number>();
  const range = rollupRange('marks', projectId, from, to);
  for await (const page of readRange(table, range, { toRow, consistent: true }, budget))
    for (const [hour, value] of page) marks.set(hour, value);
  return marks;
};
