import { fromSignedTimeBytes } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  asText,
  expireBy,
  type Item,
  mapConcurrent,
  payloadGraceDays,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../../foundations/wire/index.ts';
import { fromItem, previewsItemKey, segmentItemKey } from './items.ts';
import type { PayloadPointer } from './model.ts';
import { getPointers, hasFormer, hasPreviews, readFormer, segmentLocation } from './payloads.ts';

const daySeconds = 86_400;
const graceSeconds = payloadGraceDays * daySeconds;

/** How long calls are to be kept. */
export interface Keeping {
  readonly days: number;
  /** The time of the retention's application, in seconds since 1970. What is due expires then. */
  readonly now: number;
}

/**
 * When something expires that is kept so many days from a time, in seconds since 1970: not before now, and
 * not later than what is stored now.
 *
 * @param from in microseconds since 1970
 */
export const expiresAt = (from: Micros, { days, now }: Keeping): number =>
  Math.max(now, Math.min(Math.floor(from / 1e6), now) + days * daySeconds);

/** Whether something of a time is due. */
export const isDue = (from: Micros, keeping: Keeping): boolean => expiresAt(from, keeping) === keeping.now;

/** Items whose expiry is set at the same time. */
const atOnce = 32;
/** The names of segments that are remembered, so that each is set once. */
const maxRemembered = 200_000;

/** The time of a row of the index `by_time`. */
const timeOfRow = ({ ts }: Item): Micros =>
  fromSignedTimeBytes((asBytes(ts) ?? Buffer.alloc(8)).subarray(0, 8));

/**
 * Has calls expire that were stored with a later expiry or none, with their payloads. Calls that are kept
 * have to come before those that are due: a payload that both share then expires with those that are kept,
 * and is not given an earlier expiry later. docs/decisions/0295
 */
export class CallExpiry {
  readonly #store: Store;
  readonly #projectId: ProjectId;
  readonly #keeping: Keeping;
  readonly #budget: RequestBudget;
  readonly #done = new Set<string>();

  constructor(store: Store, projectId: ProjectId, keeping: Keeping, budget: RequestBudget) {
    this.#store = store;
    this.#projectId = projectId;
    this.#keeping = keeping;
    this.#budget = budget;
  }

  /**
   * @param rows of the index `by_time`
   * @param areDue whether they are due, all of them
   * @returns how many starts have a new expiry
   * @throws ServiceError 503 when storage does not take it in time; some may expire then
   */
  async expire(rows: readonly Item[], areDue: boolean): Promise<number> {
    const changed = await mapConcurrent(rows, atOnce, (row) => this.#expireRow(row, areDue));
    return rows.filter(({ p }, i) => changed[i] && (p ?? 'S') === 'S').length;
  }

  async #expireRow(row: Item, areDue: boolean): Promise<boolean> {
    // Payloads first: what is interrupted in between finds them again by their header.
    await this.#expirePayloads(getPointers(fromItem(this.#projectId, row)), areDue);
    const { k, p } = row;
    if (!k || !p) throw new Error('a row of the calls table has no key');
    const time = expiresAt(timeOfRow(row), this.#keeping);
    const item = await expireBy(this.#store.table, { k, p }, time, this.#budget);
    if (item && hasFormer(item)) await this.#expireFormer(fromItem(this.#projectId, item).id, time, areDue);
    return item !== undefined;
  }

  /** Has the payloads expire that a call had before it was reported again, and the notes on them. */
  async #expireFormer(id: string, time: number, areDue: boolean): Promise<void> {
    const notes = await readFormer(this.#store, this.#projectId, id, this.#budget);
    await this.#expirePayloads(
      notes.map(({ pointer }) => pointer),
      areDue,
    );
    for (const { key } of notes) {
      const { k, p } = key;
      if (k && asText(p)) await expireBy(this.#store.table, key, time + graceSeconds, this.#budget);
    }
  }

  /**
   * Those of kept calls expire when the last call could that was stored by now. Those of due calls expire at
   * once, unless they expire no later than those of kept ones: a kept call may have them, too.
   */
  async #expirePayloads(pointers: readonly PayloadPointer[], areDue: boolean): Promise<void> {
    const { days, now } = this.#keeping;
    const last = now + days * daySeconds + graceSeconds;
    for (const { segment } of pointers) {
      if (segment === null || segmentLocation(segment) === 'bucket' || this.#done.has(segment)) continue;
      const keys = [
        segmentItemKey(this.#projectId, segment),
        ...(hasPreviews(segment) ? [previewsItemKey(this.#projectId, segment)] : []),
      ];
      for (const { k, p } of keys)
        await (areDue
          ? expireBy(this.#store.table, { k, p }, now + graceSeconds, this.#budget, last + 1)
          : expireBy(this.#store.table, { k, p }, last, this.#budget));
      if (this.#done.size >= maxRemembered) this.#done.clear();
      this.#done.add(segment);
    }
  }
}
