import type { FeedbackDraft } from '../../../api/feedback.ts';
import { compareText } from '../../../foundations/expression/index.ts';
import type { Micros } from '../../../foundations/wire/index.ts';

/** The position of a record in its project's order of creation. */
export interface Position {
  readonly createdAt: Micros;
  readonly id: string;
}

/** All of a record but its payload. */
export interface FeedbackHeader extends Position, Omit<FeedbackDraft, 'id' | 'payload'> {
  /** Whose key stored it. */
  readonly userId: string;
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
   * The position of the first revision of its chain: the record that it replaced, the one that this
   * replaced, and so on. Null for a first revision.
   */
  readonly origin: Position | null;
}

/** What is left, for a while, of a record that was replaced. */
export interface Tombstone {
  readonly kind: 'tombstone';
  readonly position: Position;
  /** The next revision: the record that replaced it. */
  readonly replacedBy: Position;
  /** As a record's. */
  readonly origin: Position | null;
}

/** What a reader meets at a position. */
export type Entry = FeedbackRecord | Tombstone;

export const getPosition = (entry: Entry): Position =>
  entry.kind === 'record' ? entry.header : entry.position;

/** Compares by time of creation, descending with the latest first, then by id ascending. */
export const comparePositions =
  (descending: boolean) =>
  (a: Position, b: Position): number =>
    (descending ? -1 : 1) * (a.createdAt - b.createdAt) || compareText(a.id, b.id);
