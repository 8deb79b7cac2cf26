import type { Micros } from '../wire/index.ts';
import type { Place } from './model.ts';

interface Waiting {
  readonly line: string;
  readonly place: Place;
}

/**
 * The records that tombstones have named and that have not been met, one a line at most. Which is
 * the first of them is found in logarithmic time, since there can be a tombstone for everything
 * that was replaced in a day.
 */
export class Awaited {
  readonly #places = new Map<string, Place>();
  /**
   * A binary heap by time, with what is not awaited any more left in it until it comes to the top.
   */
  readonly #heap: Waiting[] = [];

  /** Waits for a line's record at a place, and at no other any more. */
  set(line: string, place: Place): void {
    this.#places.set(line, place);
    let at = this.#heap.push({ line, place }) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#timeAt(parent) <= place.createdAt) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** Waits for nothing more of a line. */
  delete(line: string): void {
    this.#places.delete(line);
  }

  /**
   * Takes the first place before a time out of those that are waited for; undefined where there is
   * none.
   */
  takeBefore(time: Micros): Place | undefined {
    while (this.#timeAt(0) < time) {
      const first = this.#pop();
      if (!first || this.#places.get(first.line) !== first.place) continue;
      this.#places.delete(first.line);
      return first.place;
    }
    return undefined;
  }

  #pop(): Waiting | undefined {
    this.#swap(0, this.#heap.length - 1);
    const first = this.#heap.pop();
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = this.#timeAt(right) < this.#timeAt(left) ? right : left;
      if (this.#timeAt(at) <= this.#timeAt(child)) return first;
      this.#swap(at, child);
      at = child;
    }
  }

  /** Infinity beyond the heap's end. */
  #timeAt(at: number): Micros {
    return this.#heap[at]?.place.createdAt ?? Number.POSITIVE_INFINITY;
  }

  #swap(a: number, b: number): void {
    const [x, y] = [this.#heap[a], this.#heap[b]];
    if (!x || !y) return;
    this.#heap[a] = y;
    this.#heap[b] = x;
  }
}
