import { setTimeout as sleep } from 'node:timers/promises';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import pMap, { pMapSkip } from 'p-map';
import { unavailable } from '../wire/index.ts';

/**
 * What a request has used of storage so far. Units are DynamoDB's; of the requests, those that the
 * SDK repeats by itself count once.
 */
export interface Meter {
  readUnits: number;
  writeUnits: number;
  requests: number;
  /**
   * Of the requests, those that storage throttled, also after the SDK's own repeats, or did in part
   * only.
   */
  throttled: number;
}

/**
 * What one request may still spend, and what it has spent: handed down to everything that touches
 * storage.
 */
export interface RequestBudget {
  /** When storage must have answered, in milliseconds since 1970. */
  readonly deadline: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
  readonly meter: Meter;
}

/** A meter with nothing spent yet. */
export const newMeter = (): Meter => ({ readUnits: 0, writeUnits: 0, requests: 0, throttled: 0 });

/** An budget that may last the given number of milliseconds, with nothing spent yet. */
export const requestBudget = (millis: number, signal?: AbortSignal): RequestBudget => ({
  deadline: Date.now() + millis,
  meter: newMeter(),
  ...(signal && { signal }),
});

const baseDelayMs = 25;
const maxDelayMs = 2000;
/**
 * The longest that one step is tried for, however much time the whole has: a stream may last 15
 * minutes.
 */
const patienceMs = 25_000;

/** Exponential back-off with full jitter, in milliseconds, for the given attempt (0, 1, …). */
const delay = (attempt: number): number => Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** attempt);

/** Whether storage refused a request because there were too many. */
export const isThrottling = (error: unknown): boolean =>
  error instanceof Error && isThrottlingError(error as Parameters<typeof isThrottlingError>[0]);

/**
 * Whether the same request may succeed later: throttling, time-outs, broken connections, server
 * errors.
 */
const isRetryable = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const sdkError = error as Parameters<typeof isTransientError>[0];
  return isThrottlingError(sdkError) || isTransientError(sdkError) || isServerError(sdkError);
};

/**
 * One try; it says true when all is done, false when some is left over to be tried again
 * (unprocessed items, say).
 */
export type Attempt = (options: { readonly abortSignal: AbortSignal }) => Promise<boolean>;

/**
 * Does something to storage until it is done, as {@link untilDone} does, and counts its requests,
 * and those that were throttled.
 *
 * @param attempt makes one request with the options that it is given
 * @throws what {@link untilDone} throws
 */
export const withRetries = (budget: RequestBudget, attempt: Attempt): Promise<void> =>
  untilDone(budget, async (options) => {
    budget.meter.requests++;
    try {
      const done = await attempt(options);
      if (!done) budget.meter.throttled++;
      return done;
    } catch (error) {
      if (isThrottling(error)) budget.meter.throttled++;
      throw error;
    }
  });

/**
 * Tries something until it is done. Throttling, time-outs, broken connections and server errors are
 * tried again, as what is left over is, with back-off and jitter.
 *
 * @param attempt is given the options of an SDK request: what is under way at the deadline is
 * broken off
 * @throws ServiceError 503 when the deadline passes first; whatever else `attempt` throws, as it is
 */
export const untilDone = async (budget: RequestBudget, attempt: Attempt): Promise<void> => {
  const deadline = Math.min(budget.deadline, Date.now() + patienceMs);
  // Looked at once: a signal that is to be late already cannot be made.
  const leftMs = deadline - Date.now();
  if (leftMs <= 0) throw unavailable('no time is left');
  const late = AbortSignal.timeout(leftMs);
  const abortSignal = budget.signal ? AbortSignal.any([budget.signal, late]) : late;
  let cause: unknown = 'unprocessed items';
  for (let attempts = 0; ; attempts++) {
    budget.signal?.throwIfAborted();
    if (late.aborted) throw unavailable(cause);
    try {
      if (await attempt({ abortSignal })) return;
    } catch (error) {
      if (late.aborted) throw unavailable(error);
      if (!isRetryable(error)) throw error;
      cause = error;
    }
    const wait = delay(attempts);
    if (Date.now() + wait >= deadline) throw unavailable(cause);
    await sleep(wait, undefined, budget.signal && { signal: budget.signal });
  }
};

/**
 * Does something with each of a list, several at once. After a failure nothing more is begun, but
 * what is under way is waited for before the failure is thrown: a function that has answered is
 * frozen, and a write behind the answer would be done whenever it thaws.
 *
 * @param concurrency how many are under way at once
 */
export const mapConcurrent = async <T, R>(
  list: readonly T[],
  concurrency: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> => {
  const failures: unknown[] = [];
  const guarded = async (item: T, index: number): Promise<R | typeof pMapSkip> => {
    if (failures.length > 0) return pMapSkip;
    try {
      return await work(item, index);
    } catch (error) {
      failures.push(error);
      return pMapSkip;
    }
  };
  const results = await pMap(list, guarded, { concurrency });
  if (failures.length > 0) throw failures[0];
  return results;
};
