import type { JsonObject } from '../wire/index.ts';

/**
 * Puts the events of one kind of stream together to the answer that the same request would have had
 * without `stream`.
 */
export interface Fold {
  /** Takes the next event's data. */
  add(data: JsonObject): void;
  /** The answer as far as it has come; null before the first event. */
  answer(): JsonObject | null;
}
