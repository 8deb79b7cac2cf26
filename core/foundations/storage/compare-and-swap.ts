import { backOff, stepDeadline } from './back-off.ts';
import type { RequestBudget } from './request-budget.ts';

/** The value of a round that held; undefined where another write came in between. */
export type Round<T> = { readonly value: T } | undefined;

/**
 * Reads something, changes it, and writes it on the condition that it is still as it was read.
 * Where somebody else has written meanwhile it does so again, with back-off and jitter.
 *
 * @param attempt makes one round, given its number (0, 1, …)
 * @returns the value of the first round that held
 * @throws ServiceError 503 when the deadline comes first; the signal's AbortError when nobody waits
 * any more; any error of `attempt` as it is
 */
export const compareAndSwap = async <T>(
  budget: RequestBudget,
  attempt: (round: number) => Promise<Round<T>>,
): Promise<T> => {
  const deadline = stepDeadline(budget);
  for (let round = 0; ; round++) {
    budget.signal?.throwIfAborted();
    const held = await attempt(round);
    if (held) return held.value;
    await backOff(budget, round, deadline, 'others write the same all the while');
  }
};

/**
 * Does what {@link compareAndSwap} does for several items at once. Those that lost are tried again
 * together. No round is made for no items.
 *
 * @param attempt makes one round for the items left, and returns those that lost
 * @throws what {@link compareAndSwap} throws; some items may be written then
 */
export const compareAndSwapAll = async <T>(
  budget: RequestBudget,
  items: readonly T[],
  attempt: (left: readonly T[], round: number) => Promise<readonly T[]>,
): Promise<void> => {
  let left = items;
  if (left.length === 0) return;
  await compareAndSwap(budget, async (round) => {
    left = await attempt(left, round);
    return left.length === 0 ? { value: undefined } : undefined;
  });
};
