import type { Throttle } from '../template/stack.ts';

/**
 * A token bucket: it holds `burst` tokens, is filled with `ratePerSecond` and gives one to each
 * request.
 *
 * @param now milliseconds on a clock that never goes back
 * @returns a function that takes a token, or gives false where there is none
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
