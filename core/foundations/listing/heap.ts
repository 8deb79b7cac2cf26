/** A binary heap. It finds the first of its items in constant time and moves one in O(log n). */
export class Heap<T extends object> {
  readonly #compare: (a: T, b: T) => number;
  readonly #items: T[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The first item; of several that compare as equal, any. Undefined when the heap is empty. */
  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent];
      if (above === undefined || this.#compare(above, item) <= 0) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  /** Takes the first item out. */
  pop(): T | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.#sink(last);
    return first;
  }

  /** Puts the first item in its new place after it has changed. */
  update(): void {
    const [first] = this.#items;
    if (first !== undefined) this.#sink(first);
  }

  /** Moves an item from the top down to its place. */
  #sink(item: T): void {
    const items = this.#items;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const child = this.#earlier(left, left + 1);
      const below = child < items.length ? items[child] : undefined;
      if (below === undefined || this.#compare(item, below) <= 0) {
        items[at] = item;
        return;
      }
      items[at] = below;
      at = child;
    }
  }

  /** The index of the earlier of two siblings. */
  #earlier(left: number, right: number): number {
    if (right >= this.#items.length) return left;
    const a = this.#items[left];
    const b = this.#items[right];
    return a !== undefined && b !== undefined && this.#compare(b, a) < 0 ? right : left;
  }
}
