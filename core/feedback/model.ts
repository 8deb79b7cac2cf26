import { compareText } from '../expression/index.ts';
import type { JsonObject, Micros, ProjectId } from '../wire/index.ts';

/** Feedback as a client gives it, checked; `id` is null where the server is to make one. */
export interface FeedbackDraft {
  readonly projectId: ProjectId;
  readonly id: string | null;
  /** The ref of what the feedback is on: an object, an op or a call. */
  readonly ref: string;
  readonly type: string;
  readonly payload: JsonObject;
  readonly creator: string | null;
  /** An object ref. */
  readonly annotationRef: string | null;
  /** An op ref. */
  readonly runnableRef: string | null;
  /** A call ref. */
  readonly callRef: string | null;
  /** An object ref. */
  readonly triggerRef: string | null;
}

/** The place of a record in its project's order of creation. */
export interface Place {
  readonly createdAt: Micros;
  readonly id: string;
}

/** All of a record but its payload. */
export interface FeedbackHeader extends Place, Omit<FeedbackDraft, 'id' | 'payload'> {
  /** Whose key stored it. */
  readonly userId: string;
}

/** What is answered to a creation. */
export interface FeedbackAnswer {
  readonly id: string;
  readonly createdAt: Micros;
  readonly userId: string;
  readonly payload: JsonObject;
}

/** A record on its way to a reader. */
export interface FeedbackRecord {
  readonly kind: 'record';
  readonly header: FeedbackHeader;
  /** As JSON text; null where it lies apart from the header and has not been read. */
  readonly payload: string | null;
  /** Bytes of it as compact JSON. */
  readonly payloadBytes: number;
  /**
   * Where the first record of its line stood: the line of those of which each came in the place of
   * the one before. Null where it is the first.
   */
  readonly origin: Place | null;
}

/** What is left, for a while, of a record that another came in the place of. */
export interface Tombstone {
  readonly kind: 'tombstone';
  readonly place: Place;
  /** The record that came in its place. */
  readonly replacedBy: Place;
  /** As a record's. */
  readonly origin: Place | null;
}

/** What a reader meets at a place. */
export type Entry = FeedbackRecord | Tombstone;

/** Where an entry stands. */
export const placeOf = (entry: Entry): Place => (entry.kind === 'record' ? entry.header : entry.place);

/** Compares by the time of creation, or descending with the latest first; then by id ascending. */
export const comparePlaces =
  (descending: boolean) =>
  (a: Place, b: Place): number =>
    (descending ? -1 : 1) * (a.createdAt - b.createdAt) || compareText(a.id, b.id);
