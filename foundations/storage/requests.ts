import { setTimeout as sleep } from 'node:timers/promises';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import pMap, { pMapSkip } from 'p-map';
import { unavailable } from '../wire/index.ts';

/**
 * What a request has used of storage so far, in DynamoDB's units. A request that the SDK repeats by
 * itself counts once.
 */
export interface Meter {
  readUnits: number;
  writeUnits: number;
  requests: number;
  /** Requests that storage throttled, after the SDK's own repeats, or answered in part. */
  throttled: number;
}

/**
 * What one request may still spend, and what it has spent. All storage functions take it. Whatever takes
 * it throws a ServiceError 503 when a store has not answered by the deadline, and says so only where
 * there is more to know.
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

/** A budget of so many milliseconds from now, with nothing spent yet. */
export const requestBudget = (millis: number, signal?: AbortSignal): RequestBudget => ({
  deadline: Date.now() + millis,
  meter: newMeter(),
  ...(signal && { signal }),
});

const baseDelayMs = 25;
const maxDelayMs = 2000;
/**
 * The time of one step with all its tries. The budget of a stream is longer: it may last 15
 * minutes.
 */
const maxStepMs = 25_000;

/** When a step that begins now must be over, in milliseconds since 1970. */
const stepDeadline = (budget: RequestBudget): number => Math.min(budget.deadline, Date.now() + maxStepMs);

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
const backOff = async (
  { signal }: RequestBudget,
  tried: number,
  deadline: number,
  cause: unknown,
): Promise<void> => {
  const wait = delay(tried);
  if (Date.now() + wait >= deadline) throw unavailable(cause);
  await sleep(wait, undefined, signal && { signal });
};

/** Whether storage refused a request because there were too many. */
export const isThrottling = (error: unknown): boolean =>
  error instanceof Error && isThrottlingError(error as Parameters<typeof isThrottlingError>[0]);

/** Whether the same request may succeed later. */
export const isRetryable = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const sdkError = error as Parameters<typeof isTransientError>[0];
  return isThrottlingError(sdkError) || isTransientError(sdkError) || isServerError(sdkError);
};

/** The SDK's options of one request. */
export interface RequestOptions {
  readonly abortSignal: AbortSignal;
}

/**
 * Makes one request with the given options of the SDK.
 *
 * @returns true when all is done; false when some is left to be tried again (unprocessed items,
 * say)
 */
export type Attempt = (options: RequestOptions) => Promise<boolean>;

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

/**
 * Works on the items of a list, several at once. Results keep the list's order.
 *
 * After a failure it begins nothing more, and waits for what is under way before it throws. A
 * function that has answered is frozen: a write behind its answer would be done whenever it thaws.
 *
 * @param concurrency how many are under way at once
 * @throws the first failure
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

/** The batches of one request that are under way at once. */
const batchConcurrency = 8;

/** Cuts a list into runs of at most `size`. */
export const chunked = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

/**
 * Sends items to a table, so many a request, until none is left over.
 *
 * @param send makes one request, and returns what storage has left undone
 */
export const sendBatches = async <T>(
  items: readonly T[],
  perRequest: number,
  budget: RequestBudget,
  send: (some: T[], options: RequestOptions) => Promise<T[]>,
): Promise<void> => {
  await mapConcurrent(chunked(items, perRequest), batchConcurrency, async (batch) => {
    let left = batch;
    await withRetries(budget, async (options) => {
      left = await send(left, options);
      return left.length === 0;
    });
  });
};
