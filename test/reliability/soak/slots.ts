/**
 * What is known of records that have one value at a time: what was acknowledged. Where a request
 * was given up without an answer, what it may have done is known as well.
 */
export class Slots {
  readonly #possible = new Map<string, Set<string | undefined>>();

  /** The names that have ever been written. */
  get names(): string[] {
    return [...this.#possible.keys()];
  }

  /** The names of which it is sure that they have a value. */
  get present(): string[] {
    return this.names.filter((name) => !this.possible(name).has(undefined));
  }

  /** The values that a record may have; undefined stands for none. */
  possible(name: string): ReadonlySet<string | undefined> {
    return this.#possible.get(name) ?? new Set([undefined]);
  }

  /** The record has been written, or removed, and that was acknowledged. */
  acknowledge(name: string, value: string | undefined): void {
    this.#possible.set(name, new Set([value]));
  }

  /** The record may have been written, or removed: nobody said. */
  doubt(name: string, value: string | undefined): void {
    this.#possible.set(name, new Set([...this.possible(name), value]));
  }

  /** Whether what a reader sees of a record can be; from then on it is what the record has. */
  see(name: string, value: string | undefined): boolean {
    if (!this.possible(name).has(value)) return false;
    this.#possible.set(name, new Set([value]));
    return true;
  }
}
