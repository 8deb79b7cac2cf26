import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { unavailable } from '../wire/index.ts';
import { backOff, stepDeadline } from './back-off.ts';
import type { RequestBudget } from './request-budget.ts';

/** Whether storage refused a request because there were too many. */
export const isThrottling = (error: unknown): boolean =>
  error instanceof Error && isThrottlingError(error as Parameters<typeof isThrottlingError>[0]);

/** Whether the same request may succeed later. */
const isRetryable = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const sdkError = error as Parameters<typeof isTransientError>[0];
  return isThrottlingError(sdkError) || isTransientError(sdkError) || isServerError(sdkError);
};

/**
 * Makes one request with the given options of the SDK.
 *
 * @returns true when all is done; false when some is left to be tried again (unprocessed items,
 * say)
 */
export type Attempt = (options: { readonly abortSignal: AbortSignal }) => Promise<boolean>;

/** Makes one request and counts it. */
const metered = async (
  { meter }: RequestBudget,
  attempt: Attempt,
  abortSignal: AbortSignal,
): Promise<boolean> => {
  meter.requests++;
  try {
    const done = await attempt({ abortSignal });
    if (!done) meter.throttled++;
    return done;
  } catch (error) {
    if (isThrottling(error)) meter.throttled++;
    throw error;
  }
};

/**
 * Makes a request until it is done, and counts each try in the budget's meter. It repeats after
 * throttling, time-outs, broken connections and server errors, and for what is left over, with
 * back-off and jitter. A request under way at the deadline is broken off.
 *
 * @throws ServiceError 503 when the deadline passes first; any other error of `attempt` as it is
 */
export const withRetries = async (budget: RequestBudget, attempt: Attempt): Promise<void> => {
  const deadline = stepDeadline(budget);
  const leftMs = deadline - Date.now();
  // AbortSignal.timeout takes no negative time.
  if (leftMs <= 0) throw unavailable('no time is left');
  const late = AbortSignal.timeout(leftMs);
  const abortSignal = budget.signal ? AbortSignal.any([budget.signal, late]) : late;
  let cause: unknown = 'unprocessed items';
  for (let tried = 0; ; tried++) {
    budget.signal?.throwIfAborted();
    if (late.aborted) throw unavailable(cause);
    try {
      if (await metered(budget, attempt, abortSignal)) return;
    } catch (error) {
      if (late.aborted) throw unavailable(error);
      if (!isRetryable(error)) throw error;
      cause = error;
    }
    await backOff(budget, tried, deadline, cause);
  }
};
