/**
 * Chance and time for `agent-traces.ts`: both from the options alone, so that the same options make
 * the same traces.
 */
import { type Texts, words } from './agent-traces-texts.ts';

/** A random number generator from a seed (mulberry32): numbers from 0 up to, not including, 1. */
const randomFrom = (seed: number) => {
  let state = seed >>> 0;
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/**
 * A source of random choices and a clock that moves only when told to. Every choice and every step
 * of the clock takes from the one sequence of random numbers: who changes their order changes all
 * traces after it.
 */
export class World {
  readonly #random: () => number;
  /** UTC microseconds since 1970. */
  #now: number;

  /** `seed` is any integer, `startMs` the clock's first time in milliseconds since 1970. */
  constructor(seed: number, startMs: number) {
    this.#random = randomFrom(seed);
    this.#now = startMs * 1000;
  }

  /**
   * Lets between a microsecond and `maxMs` milliseconds pass; gives the time after it in UTC
   * microseconds since 1970.
   */
  pass(maxMs: number): number {
    this.#now += 1 + this.below(maxMs * 1000);
    return this.#now;
  }

  /**
   * A random number from 0 up to, not including, `limit`, rounded down: a limit of 2.4 gives 2 less
   * often than 0 or 1.
   */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** Whether something of this probability, from 0 to 1, happens. */
  happens(probability: number): boolean {
    return this.#random() < probability;
  }

  /** One of the texts, each as likely as the others. */
  pick(texts: Texts): string {
    return texts[this.below(texts.length)] ?? texts[0];
  }

  /** So many random hexadecimal digits. */
  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.below(16).toString(16)).join('');
  }

  /** So many random decimal digits. */
  digits(count: number): string {
    return Array.from({ length: count }, () => this.below(10)).join('');
  }

  /**
   * A text with something else in the place of each of its `{words}`: one of `words`, or a random
   * `{number}`, `{price}` or `{order}`.
   */
  say(text: string): string {
    return text.replace(/\{(\w+)\}/g, (_, name: string) => this.#word(name));
  }

  #word(name: string): string {
    if (name === 'number') return String(1 + this.below(28));
    if (name === 'price') return `${this.below(400)}.${this.digits(2)}`;
    if (name === 'order') return `W${this.digits(7)}`;
    return this.say(this.pick(words[name] ?? [name]));
  }

  /** A UUIDv7 of the present moment. */
  newId(): string {
    const time = Math.floor(this.#now / 1000)
      .toString(16)
      .padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${this.hex(3)}-${this.pick(['8', '9', 'a', 'b'])}${this.hex(3)}-${this.hex(12)}`;
  }
}
