/** Random numbers that a seed gives: the same again for the same seed. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number from 0 up to the bound. */
  below(bound: number): number;
  /** Whether something of this probability happens. */
  chance(probability: number): boolean;
  /** One of a list; undefined of an empty one. */
  pick<T>(list: readonly T[]): T | undefined;
}

/** Mulberry32: small, fast, and random enough for tests. */
export const random = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (list) => list[below(list.length)],
  };
};
