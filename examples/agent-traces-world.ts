/**
 * Chance and time for `agent-traces.ts`. Both depend on the options alone: the same options give
 * the same traces.
 */
import { type Texts, words } from './agent-traces-texts.ts';

/** A random number generator from a seed (mulberry32). Its numbers are at least 0 and below 1. */
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
 * A source of random choices, and a clock that moves only when told. Both take from one sequence of
 * random numbers: a change of their order changes every later trace.
 */
export class World {
  readonly #random: () => number;
  /** UTC microseconds since 1970. */
  #now: number;

  /**
   * @param seed any integer
   * @param startMs the clock's first time, in ms since 1970
   */
  constructor(seed: number, startMs: number) {
    this.#random = randomFrom(seed);
    this.#now = startMs * 1000;
  }

  /**
   * Lets between a microsecond and `maxMs` milliseconds pass. Returns the new time, in UTC
   * microseconds since 1970.
   */
  advance(maxMs: number): number {
    this.#now += 1 + this.below(maxMs * 1000);
    return this.#now;
  }

  /**
   * A random integer from 0 up to, but excluding, `limit`. A limit of 2.4 gives 2 less often than 0
   * or 1.
   */
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** Whether an event of this probability (0 to 1) happens. */
  happens(probability: number): boolean {
    return this.#random() < probability;
  }

  /** One of the texts, all equally likely. */
  pick(texts: Texts): string {
    return texts[this.below(texts.length)] ?? texts[0];
  }

  /** Random hexadecimal digits. */
  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.below(16).toString(16)).join('');
  }

  /** Random decimal digits. */
  digits(count: number): string {
    return Array.from({ length: count }, () => this.below(10)).join('');
  }

  /**
   * Replaces each of the text's `{words}` by one of `words`, or by a random `{number}`, `{price}`
   * or `{order}`.
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

  /** A UUIDv7 of the clock's time. */
  newId(): string {
    const time = Math.floor(this.#now / 1000)
      .toString(16)
      .padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${this.hex(3)}-${this.pick(['8', '9', 'a', 'b'])}${this.hex(3)}-${this.hex(12)}`;
  }
}
