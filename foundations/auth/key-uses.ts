import type { Table } from '../storage/index.ts';
import type { Caller } from './grants.ts';
import { noteUse } from './keys.ts';

/** How many keys a container remembers to have noted. */
const maxNoted = 10_000;

/** A time in milliseconds as a day of UTC: `2026-10-01`. */
const toDay = (millis: number): string => new Date(millis).toISOString().slice(0, 10);

/**
 * Notes on which UTC day keys and roles are used last: once a day for each, in a container that has not seen the note
 * of another. Nobody waits for it, and a note that fails is made again with the next use.
 */
export class KeyUses {
  readonly #table: Table;
  /** The day that was noted, by the id of the key. */
  readonly #noted = new Map<string, string>();

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Begins to note that a caller's key is used now. It never throws.
   *
   * @param caller with the day that its record has; no person, who has no record of their own
   */
  note({ keyId, usedOn, person }: Pick<Caller, 'keyId' | 'usedOn' | 'person'>, now = Date.now()): void {
    const today = toDay(now);
    if (person || (usedOn !== undefined && usedOn >= today) || this.#noted.get(keyId) === today) return;
    if (this.#noted.size >= maxNoted) this.#noted.clear();
    this.#noted.set(keyId, today);
    noteUse(this.#table, keyId, today).catch(() => this.#noted.delete(keyId));
  }
}
