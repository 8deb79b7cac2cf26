/** How many values are remembered. */
const maxRemembered = 1000;

/**
 * Remembers what was read for some seconds, since calls come by the second. What fails is not
 * remembered.
 */
export class Memory<T> {
  readonly #milliseconds: number;
  readonly #known = new Map<string, { readonly until: number; readonly value: Promise<T> }>();

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  forget(name: string): void {
    this.#known.delete(name);
  }

  get(name: string, read: () => Promise<T>): Promise<T> {
    const known = this.#known.get(name);
    if (known && known.until > Date.now()) return known.value;
    const value = read();
    if (this.#known.size >= maxRemembered) this.#known.clear();
    this.#known.set(name, { until: Date.now() + this.#milliseconds, value });
    value.catch(() => this.#known.delete(name));
    return value;
  }
}
