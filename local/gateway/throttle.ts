import type { Throttle } from '../template/stack.ts';

/**
 * Makes a token bucket of `burst` tokens that refills at `ratePerSecond`.
 *
 * @param now the time in ms on a monotonic clock
 * @returns takes a token; false if there is none
 */
export const tokenBucket = ({ ratePerSecond, burst }: Throttle, now: () => number): (() => boolean) => {
  let tokens = burst;
  let filledAt = now();
  return () => {
    const at = now();
    tokens = Math.min(burst, tokens + ((at - filledAt) / 1000) * ratePerSecond);
    filledAt = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
};
