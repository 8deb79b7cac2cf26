import { setTimeout as sleep } from 'node:timers/promises';
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import { unavailable } from '../wire/index.ts';

/** What a request has used of storage so far. Units are DynamoDB's; a request is one HTTP request to a store. */
export interface Meter {
  readUnits: number;
  writeUnits: number;
  requests: number;
}

/** What one request may still spend, and what it has spent: handed down to everything that touches storage. */
export interface Effort {
  /** When storage must have answered, in milliseconds since 1970. */
  readonly deadline: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
  readonly meter: Meter;
}

/** An effort that may last the given number of milliseconds, with nothing spent yet. */
export const effort = (millis: number, signal?: AbortSignal): Effort => ({
  deadline: Date.now() + millis,
  meter: { readUnits: 0, writeUnits: 0, requests: 0 },
  ...(signal && { signal }),
});

const baseDelayMs = 25;
const maxDelayMs = 2000;
/** The longest that one step is tried for, however much time the whole has: a stream may last 15 minutes. */
const patienceMs = 25_000;

/** Exponential back-off with full jitter, in milliseconds, for the given attempt (0, 1, …). */
const delay = (attempt: number): number => Math.random() * Math.min(maxDelayMs, baseDelayMs * 2 ** attempt);

/** Whether the same request may succeed later: throttling, time-outs, broken connections, server errors. */
export const isRetryable = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const sdkError = error as Parameters<typeof isTransientError>[0];
  return isThrottlingError(sdkError) || isTransientError(sdkError) || isServerError(sdkError);
};

/**
 * Does something to storage until it is done: `attempt` says true when it is, false when some is left over to
 * be tried again (unprocessed items, say). Throttling, time-outs, broken connections and server errors are tried again as
 * well, with back-off and jitter.
 *
 * @throws ServiceError 503 when the deadline passes first; whatever else `attempt` throws, as it is
 */
export const persist = async (effort: Effort, attempt: () => Promise<boolean>): Promise<void> => {
  const deadline = Math.min(effort.deadline, Date.now() + patienceMs);
  let cause: unknown = 'unprocessed items';
  for (let attempts = 0; ; attempts++) {
    effort.signal?.throwIfAborted();
    try {
      effort.meter.requests++;
      if (await attempt()) return;
    } catch (error) {
      if (!isRetryable(error)) throw error;
      cause = error;
    }
    const wait = delay(attempts);
    if (Date.now() + wait >= deadline) throw unavailable(cause);
    await sleep(wait, undefined, effort.signal && { signal: effort.signal });
  }
};
