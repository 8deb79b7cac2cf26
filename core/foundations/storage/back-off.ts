import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../wire/index.ts';
import type { RequestBudget } from './request-budget.ts';

const baseDelayMs = 25;
const maxDelayMs = 2000;
/**
 * The time of one step with all its tries. The budget of a stream is longer: it may last 15
 * minutes.
 */
const maxStepMs = 25_000;

/** When a step that begins now must be over, in milliseconds since 1970. */
export const stepDeadline = (budget: RequestBudget): number =>
  Math.min(budget.deadline, Date.now() + maxStepMs);

/** Exponential back-off with full jitter, in milliseconds, after the given try (0, 1, …). */
const delay = (tried: number): number => Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** tried);

/**
 * Waits between two tries of a step.
 *
 * @param tried the number of the try that failed (0, 1, …)
 * @param deadline of the step, in milliseconds since 1970
 * @param cause why the try failed
 * @throws ServiceError 503 when the deadline comes before the next try; the signal's AbortError
 * when nobody waits any more
 */
export const backOff = async (
  { signal }: RequestBudget,
  tried: number,
  deadline: number,
  cause: unknown,
): Promise<void> => {
  const wait = delay(tried);
  if (Date.now() + wait >= deadline) throw unavailable(cause);
  await sleep(wait, undefined, signal && { signal });
};
