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

/** What one request may still spend, and what it has spent. All storage functions take it. */
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
