import type { JsonObject } from '../../foundations/wire/index.ts';

/**
 * Assembles the events of one kind of stream into the answer that the request would have had
 * without `stream`.
 */
export interface Fold {
  /** Takes the next event's data. */
  add(data: JsonObject): void;
  /** The answer so far; null before the first event. */
  answer(): JsonObject | null;
}
